import process from 'node:process'
import { build, type InlineConfig } from 'vite'
import { pageConfig } from '../vite.config.js'
import type { ShopTerms } from '../web/api/terms.js'

/** Builds the page into a folder, for the shop of these terms alone. */
export async function buildPage(
  outDir: string,
  terms: ShopTerms,
): Promise<void> {
  await buildForVisitors(pageConfig({ outDir, terms }))
}

/** As it is served, also where tests have the environment of a test. */
export async function buildForVisitors(
  config: InlineConfig,
): ReturnType<typeof build> {
  const { NODE_ENV: before } = process.env
  process.env.NODE_ENV = 'production'
  try {
    return await build(config)
  } finally {
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
  }
}
