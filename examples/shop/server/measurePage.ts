import { brotliCompressSync } from 'node:zlib'
import type { Rolldown } from 'vite'
import { pageConfig } from '../vite.config.js'
import type { ShopTerms } from '../web/api/terms.js'
import { buildForVisitors } from './buildPage.js'

export type PageSize = {
  /** What the document loads before anything is chosen. */
  chunks: readonly { name: string; bytes: number }[]
  /** Bytes of JavaScript after brotli. */
  total: number
  /** What of it would not be there without the library. */
  countersign: number
  /** Names of all modules that are loaded at first. */
  modules: readonly string[]
}

/** As long as those of any shop. */
const terms: ShopTerms = {
  chainId: 31337,
  token: `0x${'a1'.repeat(20)}`,
  symbol: 'USDC',
  decimals: 6,
  recipient: `0x${'b2'.repeat(20)}`,
  window: '900',
}

/** Measures the JavaScript of the buyer’s first load. */
export async function measurePage(): Promise<PageSize> {
  const eager = await buildEager([])
  const without = await buildEager(['countersign'])
  const total = sum(eager)
  return {
    chunks: eager.map(({ fileName, code }) => ({
      name: fileName,
      bytes: compress(code),
    })),
    total,
    countersign: total - sum(without),
    modules: eager.flatMap(({ moduleIds }) => moduleIds),
  }
}

/** The chunks a browser loads for the document itself. */
async function buildEager(external: string[]): Promise<Rolldown.OutputChunk[]> {
  const config = pageConfig({ outDir: 'unused', terms })
  const built = await buildForVisitors({
    ...config,
    build: { ...config.build, write: false, rolldownOptions: { external } },
    logLevel: 'silent',
  })
  if (!('output' in built))
    throw new Error(
      'The build gave no single output: expected one, without watch mode.',
    )
  const chunks = built.output.filter((file) => file.type === 'chunk')
  const eager = new Set<string>()
  const add = (fileName: string): void => {
    if (eager.has(fileName)) return
    eager.add(fileName)
    const chunk = chunks.find((one) => one.fileName === fileName)
    chunk?.imports.forEach(add)
  }
  for (const { isEntry, fileName } of chunks) if (isEntry) add(fileName)
  return chunks.filter(({ fileName }) => eager.has(fileName))
}

function sum(chunks: readonly Rolldown.OutputChunk[]): number {
  return chunks.reduce((bytes, { code }) => bytes + compress(code), 0)
}

function compress(code: string): number {
  return brotliCompressSync(code).length
}
