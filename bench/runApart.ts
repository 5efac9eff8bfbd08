import { fork } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import type { Bench } from './benches.js'
import { nextMessage } from './childMessages.js'
import type { Row } from './compare.js'

const [main, tsconfig] = ['main.ts', 'tsconfig.json'].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
) as [string, string]

/**
 * Runs a bench in a process of its own, with these options of `npm run bench`.
 *
 * @throws when it fails, or takes longer than it may.
 */
export async function runApart(
  { name, minutes }: Pick<Bench, 'name' | 'minutes'>,
  options: readonly string[],
): Promise<Row[]> {
  // A test may start this, but the child must not think that it is in a test.
  const { VITEST: _, ...env } = process.env
  // The leader of a group, so that the nodes it started end with it.
  const child = fork(main, [...options, '--run', name], {
    detached: true,
    execArgv: ['--import', 'tsx'],
    env: { ...env, TSX_TSCONFIG_PATH: tsconfig },
  })
  let isLate = false
  const endAll = () => {
    try {
      if (child.pid) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The group has ended already.
    }
  }
  const timer = setTimeout(() => {
    isLate = true
    endAll()
  }, minutes * 60_000)
  process.once('exit', endAll)
  try {
    return (await nextMessage(child)) as Row[]
  } catch (error) {
    throw isLate ? new Error(`Stopped after ${minutes} minutes.`) : error
  } finally {
    clearTimeout(timer)
    process.off('exit', endAll)
    endAll()
  }
}
