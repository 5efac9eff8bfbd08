import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vitest/config'
import shared from '../../vitest.config.js'
import { chainFiles } from './chainFiles.js'

const sourcesFile = join(process.env.COUNTERSIGN_MUTANTS ?? '', 'sources.json')

/** Sources in which every mutant waits behind a switch, by file. */
const sources = new Map<string, string>(
  existsSync(sourcesFile)
    ? Object.entries(JSON.parse(readFileSync(sourcesFile, 'utf8')))
    : [],
)

const mutants = {
  name: 'sources have mutants',
  enforce: 'pre' as const,
  load: (path: string) => sources.get(path),
}

/** Unit tests of the mutated folders, and of those that import them. */
const unitFiles = [
  'src/{orders,payments,subscriptions,x402}/**/*.test.ts',
  'test/unit/{http,orders,payments,subscriptions,x402}/**/*.test.ts',
]

// As in the tiers, no worker has files of both: some unit tests count timers.
const { projects, ...test } = shared.test ?? {}
const project = (name: string, include: readonly string[]) => ({
  extends: true as const,
  test: { name, include: [...include] },
})

export default mergeConfig(
  { ...shared, test },
  defineConfig({
    root: fileURLToPath(new URL('../..', import.meta.url)),
    plugins: [mutants],
    test: {
      projects: [project('unit', unitFiles), project('chain', chainFiles)],
      setupFiles: ['test/mutants/recordReached.ts'],
      testTimeout: 600_000,
      hookTimeout: 600_000,
    },
  }),
)
