import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import type { InlineConfig } from 'vite'

const pathOf = (path: string): string =>
  fileURLToPath(new URL(path, import.meta.url))

/** How the page is built: from the library's source, as this repository has it. */
export function pageConfig({ outDir }: { outDir: string }): InlineConfig {
  return {
    configFile: false,
    root: pathOf('web'),
    logLevel: 'warn',
    plugins: [react()],
    resolve: {
      alias: [
        {
          find: /^countersign$/,
          replacement: pathOf('../../src/entries/index.ts'),
        },
        {
          find: /^countersign\/reads$/,
          replacement: pathOf('../../src/entries/reads.ts'),
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
