import {
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { MeterProvider } from '@opentelemetry/sdk-metrics'
import { startDevChain } from 'countersign/devchain'
import type { CreateOrdersParameters, Orders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import { createClient, http } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { metricTable } from '../../../src/otel/metricTable.js'
import { readExamples } from '../../unit/support/docExamples.js'
import { findPort } from '../support/database.js'
import { fundedAccount } from '../support/desk.js'
import { storedOrder } from '../support/shop.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-metrics-'))
symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
const chain = await startDevChain({ blockTime: 0 })
afterAll(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true })
})

type Recipe = {
  openShop(
    parameters: CreateOrdersParameters,
    port: number,
  ): { orders: Orders; meterProvider: MeterProvider }
}

/** The lines of the page as a module. */
async function loadRecipe(): Promise<Recipe> {
  const page = 'docs/alerts.md'
  const [example] = readExamples(page, readFileSync(page, 'utf8')).filter(
    ({ code }) => code.includes('PrometheusExporter'),
  )
  const file = join(folder, 'openShop.ts')
  writeFileSync(file, example?.code ?? '')
  return import(file)
}

async function scrape(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(answer.status).toBe(200)
  return answer.text()
}

/** The value of the first series of a name that has these labels. */
function seriesOf(text: string, name: string, ...labels: string[]): number {
  const line = text
    .split('\n')
    .find(
      (one) =>
        one.startsWith(`${name}{`) &&
        labels.every((label) => one.includes(`countersign_${label}`)),
    )
  return Number(line?.split(' ').at(-1))
}

test('Prometheus can scrape a shop as the page sets it up', async () => {
  const { openShop } = await loadRecipe()
  const account = await fundedAccount(chain)
  const port = await findPort()
  const wallet = createClient({
    account,
    chain: chain.chain,
    transport: http(),
  })
  const client = createReadClient({ chain: chain.chain, url: chain.urls.http })
  const store = sqliteStore({ file: join(folder, 'orders.db') })
  const { orders, meterProvider } = openShop(
    {
      store,
      seal: 'none',
      tokens: [{ client, token: chain.token }],
      wallets: [wallet],
      policy: { capture: 'onAccept', pollingInterval: 20 },
    },
    port,
  )
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal })
  const shop = { orders, store, seller: account.address }
  const sales = [await storedOrder(chain, shop), await storedOrder(chain, shop)]
  await expect
    .poll(async () =>
      seriesOf(
        await scrape(port),
        'countersign_order_count',
        'state="captured"',
      ),
    )
    .toBe(2)
  const text = await scrape(port)
  stop.abort()
  await running
  await orders.close()
  await meterProvider.shutdown()

  const count = 'countersign_call_duration_count'
  expect(seriesOf(text, count, 'call="draft"', 'outcome="ok"')).toBe(2)
  expect(seriesOf(text, count, 'call="accept"', 'outcome="ok"')).toBe(2)
  expect(seriesOf(text, 'countersign_health_answered')).toBe(1)
  expect(seriesOf(text, 'countersign_suspended')).toBe(0)
  expect(seriesOf(text, 'countersign_submitter_unserved')).toBe(0)
  expect(seriesOf(text, 'countersign_submitter_captures')).toBeGreaterThan(100)
  expect(seriesOf(text, 'countersign_submitter_time_left')).toBe(86_400)
  expect(
    seriesOf(text, 'countersign_send_transactions_total', 'outcome="sent"'),
  ).toBeGreaterThan(0)

  // Nothing about a single order, buyer or transaction.
  expect(text).not.toMatch(/0x[0-9a-f]{8}/i)
  for (const { id } of sales) expect(text).not.toContain(id)

  const known = Object.entries(metricTable).map(
    ([name, { kind }]) =>
      name.replaceAll('.', '_') + (kind === 'counter' ? '_total' : ''),
  )
  const types = [...text.matchAll(/^# TYPE (countersign_\w+)/gm)]
  expect(types.length).toBeGreaterThan(15)
  expect(known).toEqual(expect.arrayContaining(types.map(([, name]) => name)))
})
