import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { entryFiles, importPathOf } from './scripts/entryFiles.js'

const entries = Object.entries(entryFiles).map(([entry, file]) => ({
  find: new RegExp(`^${importPathOf(entry)}$`),
  replacement: fileURLToPath(new URL(file, import.meta.url)),
}))

/** Tests import the oldest viem of the peer range instead of the newest. */
const oldestViem =
  process.env.COUNTERSIGN_VIEM === 'oldest'
    ? [{ find: /^viem(\/.*)?$/, replacement: 'viem-oldest$1' }]
    : []

/** Ends what hangs for good; how fast a machine is decides about no test. */
const testTimeout = 600_000

export default defineConfig({
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
