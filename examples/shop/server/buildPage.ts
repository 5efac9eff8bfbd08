import process from 'node:process'
import { build } from 'vite'
import { pageConfig } from '../vite.config.js'

/** Builds the page into a folder, as visitors get it, also in a test. */
export async function buildPage(outDir: string): Promise<void> {
  const { NODE_ENV: before } = process.env
  process.env.NODE_ENV = 'production'
  try {
    await build(pageConfig(outDir))
  } finally {
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
  }
}
