import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { entryFiles, importPathOf } from './scripts/entryFiles.js'
import { isViemOfSources } from './scripts/takeParts.js'

/** A folder with the package installed: its build for Node is tested instead. */
const installed = process.env.COUNTERSIGN_PACKAGE

const entries = Object.entries(entryFiles).map(([entry, file]) => ({
  find: new RegExp(`^${importPathOf(entry)}$`),
  replacement: installed
    ? `${installed}/dist/node/${entry}.js`
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

/** Tests import the oldest viem of the peer range instead of the newest. */
const oldestViem =
  process.env.COUNTERSIGN_VIEM === 'oldest'
    ? [{ find: /^viem(\/.*)?$/, replacement: 'viem-oldest$1' }]
    : []

/** Ends what hangs for good; how fast a machine is decides about no test. */
const testTimeout = 600_000

export default defineConfig({
  plugins: [takeViemParts],
  resolve: {
    alias: [...entries, ...oldestViem],
  },
  test: {
    retry: 0,
    expect: {
      poll: {
        timeout: 60_000,
      },
    },
    // Chain tests wait for their nodes more than they compute.
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/unit/**/*.test.ts'],
          testTimeout,
          hookTimeout: testTimeout,
        },
      },
      {
        extends: true,
        test: {
          name: 'chain',
          include: ['test/chain/**/*.test.ts'],
          testTimeout,
          hookTimeout: testTimeout,
        },
      },
    ],
  },
})
