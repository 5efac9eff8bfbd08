import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import type { InlineConfig } from 'vite'
import { vitePageAssets } from '../../scripts/bundlePages.js'

const pathOf = (path: string): string =>
  fileURLToPath(new URL(path, import.meta.url))

/** How the page is built: from the library's source, as this repository has it. */
export function pageConfig(outDir: string): InlineConfig {
  return {
    configFile: false,
    root: pathOf('web'),
    logLevel: 'warn',
    plugins: [vitePageAssets(pathOf('../..')), react()],
    resolve: {
      alias: [
        {
          find: /^countersign$/,
          replacement: pathOf('../../src/payments/index.ts'),
        },
        {
          find: /^countersign\/(client|element|checkout)$/,
          replacement: pathOf('../../src/$1/index.ts'),
        },
      ],
    },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      // Data URLs would need a weaker content security policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  }
}
