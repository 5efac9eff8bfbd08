/**
 * Draws the plot of the README from what the benchmark last measured.
 *
 *     npx tsx scripts/drawPlots.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import type { Row } from '../bench/compare.js'

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
  <style>
    svg { --back: #ffffff; --line: #d5dae0; --ink: #16202b; --soft: #4a5561; --bar: #2f6fbf; }
    @media (prefers-color-scheme: dark) {
      svg { --back: #12171d; --line: #343c46; --ink: #f0f4f8; --soft: #b6c1cc; --bar: #6aa3e8; }
    }
    text { font: 14px ui-sans-serif, system-ui, sans-serif; fill: var(--ink); }
    .head { font-weight: 600; }
    .label { text-anchor: end; }
    .value { font-weight: 600; }
    .note { font-size: 12px; fill: var(--soft); }
    .bar { fill: var(--bar); }
    .tick { stroke: var(--line); }
  </style>
  <rect width="800" height="${height}" rx="12" style="fill: var(--back)"/>
  <text x="24" y="32" class="head">How many times as fast (logarithmic scale)</text>
  <text x="${right + 50}" y="32" class="note" text-anchor="end">captures: sealed and kept in SQLite; peers keep nothing</text>
${lines.join('\n')}
${bars.join('\n')}
</svg>
`
}

/** Draws the picture from the results on disk. */
export function drawPlots(): void {
  writeFileSync(picture, drawPlot(JSON.parse(readFileSync(results, 'utf8'))))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) drawPlots()
