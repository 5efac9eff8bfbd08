/**
 * Records which mutants a test file reaches. The runner loads it before each
 * test file. In a run with a mutant switched on it records nothing.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, expect } from 'vitest'
import type { Reached } from './types.js'

type Hits = Record<string, number>

/** What the instrumented sources read and write. */
const state: {
  currentTestId?: string | undefined
  mutantCoverage?: { static: Hits; perTest: Record<string, Hits> }
} = Object.assign(globalThis, {
  __stryker__: Reflect.get(globalThis, '__stryker__') ?? {},
}).__stryker__

const { testPath: file = '' } = expect.getState()
state.currentTestId = file

const { COUNTERSIGN_MUTANTS: folder, __STRYKER_ACTIVE_MUTANT__: active } =
  process.env
if (folder && !active)
  afterAll(() => {
    const { static: onLoad = {}, perTest = {} } = state.mutantCoverage ?? {}
    const reached: Reached = {
      file,
      onLoad: Object.keys(onLoad),
      inTests: Object.keys(perTest[file] ?? {}),
    }
    const name = `reached-${crypto.randomUUID()}.json`
    writeFileSync(join(folder, name), JSON.stringify(reached))
  })
