import { writeFile } from 'node:fs/promises'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { drawPlots } from '../scripts/drawPlots.js'
import { benchBundleSize } from './bundleSize.js'
import type { Row } from './compare.js'
import { benchHashPayment } from './hashPayment.js'
import { benchImport } from './importTime.js'
import { benchOrdersAccept } from './ordersAccept.js'
import { benchOrdersCapture } from './ordersCapture.js'
import { benchOrdersClaim } from './ordersClaim.js'
import { benchOrdersLoad } from './ordersLoad.js'
import { benchMillionPostgres, benchMillionSqlite } from './ordersMillion.js'
import { benchReadsBatch } from './readsBatch.js'
import { benchReadsLogs } from './readsLogs.js'
import { benchReadsPreconfirmed } from './readsPreconfirmed.js'
import { benchReadsReceipts } from './readsReceipts.js'
import { benchReadsStream } from './readsStream.js'
import { benchRecovery } from './recovery.js'
import { benchShopLoad } from './shopLoad.js'
import { benchShopPage } from './shopPage.js'
import { benchVerifyPayment } from './verifyPayment.js'
import { benchX402Paid } from './x402Paid.js'

const cell = (value: string | number, width: number): string =>
  typeof value === 'string'
    ? value.padEnd(width)
    : value.toFixed(2).padStart(width)

function showRow({ name, peer, ratio, goal, unit }: Row): string {
  const met = goal === 0 ? '' : ratio >= goal ? 'met' : 'MISSED'
  const wanted = goal === 0 ? cell('', 6) : cell(goal, 6)
  return `${cell(name, 38)} ${cell(peer, 36)} ${cell(ratio, 6)} ${wanted} ${unit.padEnd(4)} ${met}`
}

/** What takes minutes, gigabytes or a browser is measured only if asked for. */
const { claim, load, million, page, shop } = parseArgs({
  options: {
    claim: { type: 'string' },
    load: { type: 'string' },
    million: { type: 'string' },
    page: { type: 'boolean' },
    shop: { type: 'string' },
  },
}).values

const rows: Row[] = []
process.stdout.write(
  `${cell('name', 38)} ${cell('peer', 36)} ${'ratio'.padStart(6)} ${'goal'.padStart(6)} unit\n`,
)
for (const bench of [
  benchBundleSize,
  benchHashPayment,
  benchRecovery,
  benchVerifyPayment,
  benchImport,
  benchReadsBatch,
  benchReadsLogs,
  benchReadsReceipts,
  benchReadsStream,
  benchReadsPreconfirmed,
  benchOrdersAccept,
  benchOrdersCapture,
  benchX402Paid,
  ...(claim ? [() => benchOrdersClaim(Number(claim))] : []),
  ...(load ? [() => benchOrdersLoad(Number(load))] : []),
  ...(million ? [() => benchMillionSqlite(Number(million))] : []),
  ...(million ? [() => benchMillionPostgres(Number(million))] : []),
  ...(page ? [benchShopPage] : []),
  ...(shop ? [() => benchShopLoad(Number(shop))] : []),
]) {
  const measured = await bench()
  rows.push(...measured)
  for (const row of measured) process.stdout.write(`${showRow(row)}\n`)
}

const results = new URL('results.json', import.meta.url)
await writeFile(results, `${JSON.stringify(rows, null, 2)}\n`)
drawPlots()
