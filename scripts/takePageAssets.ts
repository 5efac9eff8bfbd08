/**
 * Gives programs that run the sources the files of the pages:
 *
 *     tsx --import ./scripts/takePageAssets.ts examples/shop/main.ts
 */
import { fileURLToPath } from 'node:url'
import { registerPageAssets } from './bundlePages.js'

await registerPageAssets(fileURLToPath(new URL('..', import.meta.url)))
