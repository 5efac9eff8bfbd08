import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/entries/index.ts',
    reads: 'src/entries/reads.ts',
    devchain: 'src/entries/devchain.ts',
    testing: 'src/entries/testing.ts',
  },
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  // Deno and workers know builtins by their full name only.
  removeNodeProtocol: false,
  external: ['viem', /^viem\//, '@viem/anvil', /^node:/],
  dts: true,
  sourcemap: true,
  clean: true,
  treeshake: true,
})
