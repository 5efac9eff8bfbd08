import { build } from 'vite'
import { pageConfig } from '../vite.config.js'

/** Builds the page into a folder. */
export async function buildPage(outDir: string): Promise<void> {
  await build(pageConfig({ outDir }))
}
