import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { createReadClient } from 'countersign/reads'
import { transform } from 'esbuild'
import { compare, type Row } from './compare.js'
import { sized } from './sized.js'
import { startDelayProxy, startReadsNode } from './startServer.js'

/** Logs that each reads; viem fewer, but as many as show what it needs for good. */
const logs = { own: sized(1_000_000, 100_000), viem: sized(50_000, 10_000) }

/** Blocks of five logs each, read from away. */
const away = sized(20_000, 4_000)

type Run = {
  seconds: number
  /** Megabytes. */
  peak: number
  secondQuarter: number
  lastQuarter: number
}

/** What a long stream of logs takes of memory, and whether it grows. */
export async function benchReadsStream(): Promise<Row[]> {
  const node = await startReadsNode()
  try {
    const own = await readApart('countersign', node.url, logs.own)
    const alone = await readApart('prefetch: 0', node.url, logs.own)
    const viem = await readApart('viem', node.url, logs.viem)
    const name = `streamLogs of 1,000,000, ${own.peak.toFixed(0)} MB`
    const unit = 'MB'
    return [
      {
        name,
        peer: 'limit of 200 MB',
        ratio: 200 / own.peak,
        goal: 1,
        unit,
        why: `Three chunks are read ahead; with prefetch: 0 it takes ${alone.peak.toFixed(0)} MB.`,
      },
      {
        name: 'streamLogs, last quarter',
        peer: 'its second quarter',
        ratio: own.secondQuarter / own.lastQuarter,
        goal: 0.85,
        unit,
      },
      {
        name,
        peer: `viem iterateLogs, 50,000, ${viem.peak.toFixed(0)} MB`,
        ratio: viem.peak / own.peak,
        goal: 0,
        unit,
      },
      ...(await comparePrefetch(node.url)),
      {
        name: 'streamLogs, logs a second',
        peer: 'viem iterateLogs with event',
        ratio: viem.seconds / logs.viem / (own.seconds / logs.own),
        goal: 0,
        unit: 'time',
      },
    ]
  } finally {
    node.stop()
  }
}

/** 100,000 logs from away, read ahead and not. */
async function comparePrefetch(target: string): Promise<Row[]> {
  const rows: Row[] = []
  for (const { milliseconds, goal } of [
    { milliseconds: 25, goal: 2 },
    { milliseconds: 150, goal: 3 },
  ]) {
    const proxy = await startDelayProxy(target, milliseconds)
    const { none = Number.NaN } = await compare('ahead', {
      rounds: 5,
      prepare: () => ({
        ahead: () => readAway(proxy.url, {}),
        none: () => readAway(proxy.url, { prefetch: 0 }),
      }),
    })
    proxy.stop()
    rows.push({
      name: `streamLogs of 100,000, +${milliseconds} ms`,
      peer: 'the same with prefetch: 0',
      ratio: none,
      goal,
      unit: 'time',
    })
  }
  return rows
}

async function readAway(
  url: string,
  options: { prefetch?: number },
): Promise<void> {
  const fromBlock = 2_000_000n
  const toBlock = fromBlock + BigInt(away - 1)
  let read = 0
  for await (const { logs } of createReadClient({ url }).streamLogs({
    fromBlock,
    toBlock,
    ...options,
  }))
    read += logs.length
  if (read !== 5 * away) throw new Error(`Read ${read} logs.`)
}

/** Runs the reader on what ships, without a compiler in its process. */
async function readApart(
  reader: string,
  url: string,
  logs: number,
): Promise<Run> {
  const source = new URL('readsStreamReader.ts', import.meta.url)
  const { code } = await transform(await readFile(source, 'utf8'), {
    loader: 'ts',
    format: 'esm',
  })
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    code,
    reader,
    url,
    String(logs),
  ])
  return JSON.parse(stdout)
}
