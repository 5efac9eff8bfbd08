/**
 * Draws the plots of the guides from what the benchmark last measured.
 *
 *     npx tsx scripts/drawPlots.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import type { Row } from '../bench/compare.js'
import type { Result } from '../bench/results.js'
import { drawSides, plotStyle } from './drawSides.js'

const results = 'bench/results.json'
const picture = 'docs/images/benchmark.svg'

const viem = 'viem write + wait, one by one'
const x402 = 'x402 settle, nonceManager, 100 at once'
const facilitator = '@x402/evm facilitator verify, warm'

/** Which rows are drawn, in this order, and what they are called. */
const drawn = [
  ['500 captures, sealed, SQLite', viem, '500 captures', 'viem, one by one'],
  [
    '500 captures, sealed, SQLite, +25 ms',
    viem,
    '500 captures, node 25 ms away',
    'viem, one by one',
  ],
  [
    '500 captures, sealed, SQLite, +25 ms',
    x402,
    '500 captures, node 25 ms away',
    'x402, 100 at a time',
  ],
  ['verifyPayment', facilitator, 'verifyPayment', 'x402 verify'],
  [
    'verifyPayment, 25 ms added a request',
    facilitator,
    'verifyPayment, node 25 ms away',
    'x402 verify',
  ],
  ['hashPayment', 'viem hashTypedData', 'hashPayment', 'viem hashTypedData'],
  [
    'getLogs + decodeTokenLog, 10,000 logs',
    'viem getLogs with event',
    'getLogs, 10,000 logs',
    'viem getLogs',
  ],
  [
    'getBlockReceipts + decodeTokenLog, 300',
    'viem getBlockReceipts, parseEventLogs',
    'getBlockReceipts, 300 receipts',
    'viem, parsed',
  ],
] as const

const left = 360
const right = 720
const [top, step] = [64, 34]
const ticks = [1, 2, 5, 10, 20, 50]

/** Bars on a logarithmic scale: half the length is not half the speed. */
const across = (ratio: number): number =>
  Math.round(left + ((right - left) * Math.log(ratio)) / Math.log(50))

export function drawPlot(rows: readonly Row[]): string {
  const height = top + drawn.length * step + 44
  const bars = drawn.map(([name, peer, label, against], index) => {
    const row = rows.find((it) => it.name === name && it.peer === peer)
    if (!row) throw new Error(`${results} has no row "${name}" / "${peer}".`)
    const y = top + index * step
    const end = across(row.ratio)
    return `  <text x="${left - 12}" y="${y + 12}" class="label">${label}</text>
  <text x="${left - 12}" y="${y + 26}" class="note label">against ${against}</text>
  <rect class="bar" x="${left}" y="${y + 4}" width="${end - left}" height="18" rx="3"/>
  <text x="${end + 8}" y="${y + 18}" class="value">${row.ratio.toFixed(1)}×</text>`
  })
  const lines = ticks.map((tick) => {
    const x = across(tick)
    return `  <path class="tick" d="M${x} ${top - 8}V${height - 40}"/><text class="note" x="${x}" y="${height - 20}" text-anchor="middle">${tick}×</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 ${height}" width="800" height="${height}" role="img" aria-labelledby="title text">
  <title id="title">How many times as fast as its peers</title>
  <desc id="text">${drawn
    .map(([name, peer, label, against]) => {
      const row = rows.find((it) => it.name === name && it.peer === peer)
      return `${label}: ${row?.ratio.toFixed(1)} times as fast as ${against}.`
    })
    .join(' ')}</desc>
${plotStyle}
  <rect width="800" height="${height}" rx="12" style="fill: var(--back)"/>
  <text x="24" y="32" class="head">How many times as fast (logarithmic scale)</text>
  <text x="${right + 50}" y="32" class="note" text-anchor="end">captures: sealed and kept in SQLite; peers keep nothing</text>
${lines.join('\n')}
${bars.join('\n')}
</svg>
`
}

/** What is drawn from the absolute figures, by the name of the picture. */
export const sidePlots: Record<
  string,
  { title: string; benches: readonly string[]; unit: string }
> = {
  captures: {
    title: 'Captures a second: countersign above its peer',
    benches: ['ordersCapture'],
    unit: 'a second',
  },
  latency: {
    title: 'Milliseconds: countersign above its peer',
    benches: ['importTime', 'verifyPayment', 'readsPreconfirmed'],
    unit: 'ms',
  },
  growth: {
    title: 'Milliseconds a call: among many orders above among 1,000',
    benches: ['millionSqlite', 'millionPostgres'],
    unit: 'ms',
  },
  digests: {
    title: 'Microseconds a digest: countersign above its peer',
    benches: ['hashPayment'],
    unit: 'us',
  },
}

/** Draws one of {@link sidePlots}. */
export function drawSidePlot(name: string, results: readonly Result[]): string {
  const { title = '', benches = [], unit = '' } = sidePlots[name] ?? {}
  const rows = results.filter(
    ({ bench, sides }) => benches.includes(bench) && sides?.unit === unit,
  )
  return drawSides(title, rows)
}

/** Draws the pictures from the results on disk. */
export function drawPlots(): void {
  const measured = JSON.parse(readFileSync(results, 'utf8'))
  writeFileSync(picture, drawPlot(measured))
  for (const name of Object.keys(sidePlots))
    writeFileSync(`docs/images/${name}.svg`, drawSidePlot(name, measured))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) drawPlots()
