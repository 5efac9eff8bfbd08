import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import type { InlineConfig } from 'vite'
import type { ShopTerms } from './web/api/terms.js'

const pathOf = (path: string): string =>
  fileURLToPath(new URL(path, import.meta.url))

/** How the page is built: from the library's source, as this repository has it. */
export function pageConfig({
  outDir,
  terms,
}: {
  outDir: string
  /** What the page compares each payment with before a wallet signs it. */
  terms: ShopTerms
}): InlineConfig {
  return {
    configFile: false,
    root: pathOf('web'),
    logLevel: 'warn',
    plugins: [react()],
    define: { shopTerms: JSON.stringify(terms) },
    resolve: {
      alias: [
        {
          find: /^countersign$/,
          replacement: pathOf('../../src/payments/index.ts'),
        },
        {
          find: /^countersign\/checkout$/,
          replacement: pathOf('../../src/checkout/index.ts'),
        },
        {
          find: /^countersign\/client$/,
          replacement: pathOf('../../src/client/index.ts'),
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
