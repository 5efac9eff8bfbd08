/**
 * Takes the picture of a shop's captures that the documentation shows: sells for
 * some minutes, is suspended meanwhile, and has Prometheus scrape and draw it.
 * Needs Debian's package `prometheus`.
 *
 *     npx tsx scripts/takeMetrics.ts [folder] [seconds]
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createOrders, type Orders } from 'countersign/orders'
import { openTelemetry } from 'countersign/otel'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import { createClient, http } from 'viem'
import { findPort } from '../test/chain/support/database.js'
import { fundedAccount } from '../test/chain/support/desk.js'
import { launch } from '../test/chain/support/openPage.js'
import { storedOrder } from '../test/chain/support/shop.js'

const [folder = 'docs/images', length = '200'] = process.argv.slice(2)
const seconds = Number(length)

/** What is drawn: captures each second, and what waits for its capture. */
const questions = [
  'sum by (countersign_state) (deriv(countersign_order_count{countersign_state="captured"}[10s]))',
  'sum by (countersign_state) (countersign_order_count{countersign_state="stored"})',
]

const place = mkdtempSync(join(tmpdir(), 'countersign-metrics-'))
const port = await findPort()
const chain = await startDevChain({ blockTime: 1 })
const store = sqliteStore({ file: join(place, 'orders.db') })
const meterProvider = new MeterProvider({
  readers: [new PrometheusExporter({ host: '127.0.0.1', port })],
})
const orders = await openShop(chain, store)
const prometheus = await startPrometheus()
const stop = new AbortController()
const running = orders.run({ signal: stop.signal })
try {
  await sell()
  await draw()
} finally {
  stop.abort()
  await running
  await orders.close()
  await meterProvider.shutdown()
  prometheus.stop()
  await chain.stop()
  rmSync(place, { recursive: true, force: true })
}

async function openShop(on: DevChain, kept: PaymentStore): Promise<Orders> {
  const account = await fundedAccount(on)
  const client = createReadClient({ chain: on.chain, url: on.urls.http })
  const { observe, watchHealth } = openTelemetry({ meterProvider })
  const opened = createOrders({
    store: kept,
    seal: 'none',
    tokens: [{ client, token: on.token }],
    wallets: [createClient({ account, chain: on.chain, transport: http() })],
    policy: { capture: 'onAccept' },
    observe,
  })
  watchHealth({ orders: opened })
  return opened
}

async function startPrometheus(): Promise<{ url: string; stop(): void }> {
  const webPort = await findPort()
  const file = join(place, 'prometheus.yml')
  const targets = [`127.0.0.1:${port}`]
  const job = { job_name: 'countersign', static_configs: [{ targets }] }
  const settings = {
    global: { scrape_interval: '2s' },
    scrape_configs: [job],
  }
  writeFileSync(file, JSON.stringify(settings))
  const options = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(place, 'data')}`,
    `--web.listen-address=127.0.0.1:${webPort}`,
  ]
  const child = spawn('prometheus', options, { stdio: 'ignore' })
  return { url: `http://127.0.0.1:${webPort}`, stop: () => child.kill() }
}

/** Sells one to five orders a second, most in the middle of the time. */
async function sell(): Promise<void> {
  const start = performance.now()
  const share = () => (performance.now() - start) / 1000 / seconds
  const [seller] = (await orders.health()).submitters
  if (!seller) throw new Error('the shop has no submitter')
  const shop = { orders, store, seller: seller.account }
  const sales: Promise<unknown>[] = []
  for (let isSuspended = false; share() < 1; ) {
    const isPause = share() > 0.55 && share() < 0.7
    if (isPause !== isSuspended)
      await (isPause ? orders.suspend() : orders.resume())
    isSuspended = isPause
    sales.push(storedOrder(chain, shop))
    await wait(1000 / (1 + 4 * Math.sin(Math.PI * share()) ** 2))
  }
  await Promise.all(sales)
  await wait(8000)
}

async function draw(): Promise<void> {
  const range = `${Math.ceil(seconds + 12)}s`
  const query = questions.map((expr, at) => [
    [`g${at}.expr`, expr],
    [`g${at}.tab`, '0'],
    [`g${at}.range_input`, range],
    [`g${at}.step_input`, '2'],
  ])
  const browser = await launch(place, { hasFonts: true })
  try {
    const page = await browser.newPage({
      viewport: { width: 900, height: 1000 },
    })
    await page.goto(
      `${prometheus.url}/graph?${new URLSearchParams(query.flat())}`,
    )
    await page
      .locator('svg')
      .nth(questions.length - 1)
      .waitFor()
    // Leaves the questions, the graphs and their scales.
    await page.addStyleTag({
      content: `
        nav, .query-history, .form-inline, .eval_stats, .nav-tabs, .legend,
        .graph_container > .clearfix, [name=remove], #add_graph
        { display: none !important }
        body { padding: 0 !important }
        .graph_wrapper { margin: 12px 0 }
        textarea { resize: none !important; box-shadow: none !important }
      `,
    })
    await page
      .locator('#graph_container')
      .screenshot({ path: join(folder, 'prometheus.png') })
  } finally {
    await browser.close()
  }
}
