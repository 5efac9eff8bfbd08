import { availableParallelism } from 'node:os'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { vitePageAssets } from './scripts/bundlePages.js'
import { entryFiles, importPathOf, nodeFileOf } from './scripts/entryFiles.js'
import { FlakyReporter } from './scripts/FlakyReporter.js'
import { isViemOfSources } from './scripts/takeParts.js'

/** A folder with the package installed: its build for Node is tested instead. */
const installed = process.env.COUNTERSIGN_PACKAGE

const entries = Object.entries(entryFiles).map(([entry, file]) => ({
  find: new RegExp(`^${importPathOf(entry)}$`),
  replacement: installed
    ? `${installed}/${nodeFileOf(entry)}`
    : fileURLToPath(new URL(file, import.meta.url)),
}))

/** A file with parts of viem, as in the build for Node: sources take them. */
const viemParts = process.env.COUNTERSIGN_VIEM_PARTS

const takeViemParts = {
  name: 'sources take parts of viem',
  enforce: 'pre' as const,
  resolveId(path: string, importer = '') {
    if (!viemParts || !isViemOfSources(path, importer)) return undefined
    return /openLogSocket\.ts$/.test(importer)
      ? importer.replace(/openLogSocket/, 'webSocketLater')
      : viemParts
  },
}

/** Helpers of tests, which start chains and shops when they are loaded. */
const helpers = /\/test\/(chain|unit)\/support\//

/**
 * A worker loads modules once for all its test files, and the helpers once for
 * each file: a chain that one file warps or stops serves no other.
 */
const ownHelpers = {
  name: 'each test file has its own helpers',
  enforce: 'pre' as const,
  async resolveId(
    this: { resolve: Resolve },
    path: string,
    importer: string | undefined,
  ) {
    const [from = '', owner = from] = importer?.split('?of=') ?? []
    if (!/\.test\.ts$/.test(owner)) return undefined
    const found = await this.resolve(path, from, { skipSelf: true })
    return found && helpers.test(found.id)
      ? { ...found, id: `${found.id}?of=${owner}` }
      : undefined
  },
}

/** Tests import the oldest viem of the peer range instead of the newest. */
const oldestViem =
  process.env.COUNTERSIGN_VIEM === 'oldest'
    ? [{ find: /^viem(\/.*)?$/, replacement: 'viem-oldest$1' }]
    : []

/** Ends what hangs for good; how fast a machine is decides about no test. */
const testTimeout = 600_000

const cores = availableParallelism()

/** In CI a test on a chain that fails is run again; see `FlakyReporter`. */
const inCi = process.env.CI === 'true'
const again = inCi ? 2 : 0

const reporters = [
  ...(inCi ? [new FlakyReporter()] : []),
  'default',
  ...(process.env.GITHUB_ACTIONS === 'true' ? ['github-actions'] : []),
]

type Resolve = (
  path: string,
  importer: string,
  options: { skipSelf: boolean },
) => Promise<{ id: string } | null>

function tier(
  name: string,
  include: string[],
  options: {
    isolate?: boolean
    retry?: number
    maxWorkers?: number
    sequence?: { groupOrder: number }
  } = {},
) {
  return {
    extends: true as const,
    test: {
      name,
      include,
      testTimeout,
      hookTimeout: testTimeout,
      ...options,
    },
  }
}

export default defineConfig({
  plugins: [
    takeViemParts,
    ownHelpers,
    vitePageAssets(fileURLToPath(new URL('.', import.meta.url))),
  ],
  resolve: {
    alias: [...entries, ...oldestViem],
  },
  test: {
    reporters,
    isolate: false,
    expect: {
      poll: {
        timeout: 60_000,
      },
    },
    maxWorkers: cores,
    projects: [
      tier('unit', ['src/**/*.test.ts', 'test/unit/**/*.test.ts']),
      tier('isolated', ['test/isolated/**/*.test.ts'], { isolate: true }),
      tier('chain', ['test/chain/**/*.test.ts'], {
        retry: again,
        // They wait for their nodes more than they compute.
        maxWorkers: 2 * cores,
        sequence: { groupOrder: 1 },
      }),
      tier('thorough', ['test/thorough/**/*.test.ts'], {
        retry: again,
        sequence: { groupOrder: 2 },
      }),
    ],
  },
})
