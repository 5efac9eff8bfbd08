import { defineConfig } from 'vitest/config'

/** `COUNTERSIGN_FULL=1` (npm run test:full) runs the long versions. */
export default defineConfig({
  test: {
    retry: 0,
    reporters: ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/unit/**/*.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'chain',
          include: ['test/chain/**/*.test.ts', 'test/spec.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
    ],
  },
})
