import process from 'node:process'
import { defineConfig } from 'tsup'
import { pageAssets } from './scripts/bundlePages.js'
import { plainEntryFiles } from './scripts/entryFiles.js'
import { gatherEntries } from './scripts/gatherEntries.js'
import { openDoors } from './scripts/openDoors.js'
import { leaveShared } from './scripts/sharedFiles.js'

export default defineConfig({
  entry: { ...plainEntryFiles },
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  // Deno and workers know builtins by their full name only.
  removeNodeProtocol: false,
  external: [
    'viem',
    /^viem\//,
    'zod',
    '@viem/anvil',
    /^node:/,
    // Peers without a range, which the bundler does not know.
    'wagmi',
    '@wagmi/core',
    '@opentelemetry/api',
  ],
  esbuildPlugins: [
    pageAssets(process.cwd(), './'),
    leaveShared(process.cwd(), './'),
    openDoors(process.cwd()),
  ],
  dts: { entry: gatherEntries(process.cwd()) },
  sourcemap: true,
  clean: true,
  treeshake: true,
})
