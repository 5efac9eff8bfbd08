import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/entries/index.ts',
    reads: 'src/entries/reads.ts',
    orders: 'src/entries/orders.ts',
    devchain: 'src/entries/devchain.ts',
    testing: 'src/entries/testing.ts',
    sql: 'src/entries/sql.ts',
    http: 'src/entries/http.ts',
    webhooks: 'src/entries/webhooks.ts',
  },
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  // Deno and workers know builtins by their full name only.
  removeNodeProtocol: false,
  external: ['viem', /^viem\//, 'jose', 'zod', '@viem/anvil', /^node:/],
  dts: true,
  sourcemap: true,
  clean: true,
  treeshake: true,
})
