/**
 * A shop on a cluster, while its machines break: three PostgreSQL under Patroni,
 * PgBouncer in front, two workers and two web processes.
 *
 *     npx tsx examples/cluster/main.ts
 *     npx tsx examples/cluster/main.ts --asynchronous --minutes 2 --rate 2
 */
import { writeFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startDevChain } from 'countersign/devchain'
import { toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startCluster } from './machine/startCluster.js'
import { openCounter, type Purchase } from './play/buy.js'
import { judge, type Verdict } from './play/judge.js'
import { operate } from './play/operate.js'
import { type Blows, strike } from './play/strike.js'
import type { Shop } from './shop/shop.js'
import { startShop } from './shop/startShop.js'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    /** Purchases a second. */
    rate: { type: 'string', default: '5' },
    asynchronous: { type: 'boolean', default: false },
    /** Where to keep the report as JSON. */
    report: { type: 'string' },
    /** Keeps the folder with the logs. */
    keep: { type: 'boolean', default: false },
  },
})
const isSynchronous = !values.asynchronous
const length = Number(values.minutes) * 60_000
const rate = Number(values.rate)
const started = Date.now()
const say = (what: string) =>
  console.log(
    `${Math.round((Date.now() - started) / 1000)} s`.padStart(6),
    what,
  )

/** How to end what runs, the last first. */
const ends: (() => unknown)[] = []
process.once('SIGINT', () => end(1))

async function end(code: number): Promise<never> {
  for (const one of ends.reverse()) await one()
  process.exit(code)
}

await main().catch((error: unknown) => {
  console.error(error)
  return end(1)
})

async function main(): Promise<void> {
  const chain = await startDevChain({ blockTime: 1 })
  ends.push(chain.stop)
  const cluster = await startCluster({ isSynchronous })
  ends.push(() => cluster.stop({ keep: values.keep }))
  say(`the cluster is up, in ${cluster.folder}`)
  const walletKey = generatePrivateKey()
  const recipient = privateKeyToAccount(walletKey).address
  await chain.clients.test.setBalance({ address: recipient, value: 10n ** 20n })
  const settings: Shop = {
    chain: chain.chain,
    url: chain.urls.http,
    token: chain.token,
    ...cluster.urls,
    isSynchronous,
    walletKey,
    sealKey: toHex(crypto.getRandomValues(new Uint8Array(32))),
    merchantKey: generatePrivateKey(),
  }
  const shop = await startShop(settings, cluster.folder)
  ends.push(shop.stop)
  const { urls } = shop
  const { merchantKey } = settings
  const counter = await openCounter({ chain, urls, merchantKey, recipient })
  await Promise.all(urls.map(untilReady))
  say(`the shop is open: ${rate} purchases a second for ${length / 1000} s`)

  let isOver = false
  const operating = operate(shop, () => isOver)
  const breaking = strike({ cluster, shop, length, say })
  const { purchases, refunds } = await sell(counter, () => isOver)
  const blows = await breaking
  say('the machines are left alone')
  const bought = await Promise.all(purchases)
  const verdict = await judge({
    chain,
    recipient,
    purchases: bought,
    url: urls[0] ?? '',
    merchantKey,
    folder: cluster.folder,
  })
  isOver = true
  await Promise.all(refunds)
  const said = await operating
  const processEnds = [...shop.workers, ...shop.webs].reduce(
    (sum, one) => sum + one.ends.length,
    0,
  )
  const report = {
    isSynchronous,
    seconds: length / 1000,
    blows,
    purchases: bought.length,
    accepted: bought.filter(({ isAccepted }) => isAccepted).length,
    forgotten: bought.filter(({ isForgotten }) => isForgotten).length,
    refusals: counter.refusals(),
    problems: bought.flatMap(({ problems }) => problems),
    processEnds,
    recoveries: said.length,
    ...verdict,
  }
  print(report)
  for (const text of said.slice(-1)) console.log(text)
  if (values.report) writeFileSync(values.report, JSON.stringify(report))
  await end(isGood(verdict) ? 0 : 1)
}

async function sell(
  counter: Awaited<ReturnType<typeof openCounter>>,
  isOver: () => boolean,
) {
  const purchases: Promise<Purchase>[] = []
  const refunds: Promise<void>[] = []
  const until = Date.now() + length
  for (let at = 1; Date.now() < until; at++) {
    const buying = counter.buy(`purchase-${at}`)
    purchases.push(buying)
    if (at % 10 === 0)
      refunds.push(
        buying.then((purchase) =>
          purchase.isAccepted ? counter.refund(purchase, isOver) : undefined,
        ),
      )
    await setTimeout(1000 / rate)
  }
  return { purchases, refunds }
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    const isUp = await fetch(`${url}/openapi.json`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    await setTimeout(500)
  }
  throw new Error(`${url} does not answer`)
}

/** Whether what the cluster promises was kept. */
function isGood({ chargedTwice, lost, ...rest }: Verdict): boolean {
  return (
    chargedTwice.length === 0 &&
    (lost.length === 0 || !isSynchronous) &&
    rest.isAudited &&
    rest.books.areRight !== false
  )
}

type Report = Verdict & {
  seconds: number
  blows: Blows
  purchases: number
  accepted: number
  forgotten: number
  refusals: number
  problems: readonly string[]
  processEnds: number
  recoveries: number
}

function print(report: Report): void {
  const rows: [string, string | number][] = [
    ['blows to leaders', report.blows.leaders],
    ['workers killed', report.blows.workers],
    ['purchases', report.purchases],
    ['confirmed', report.accepted],
    ['refused for now, and asked again', report.refusals],
    ['given up after thirty tries', report.problems.length],
    ['captured on the chain', report.captured],
    ['confirmed and not captured', report.lost.length],
    ['charged twice', report.chargedTwice.length],
    ['orders that a failover lost', report.forgotten],
    ['refunds paid', report.refunded],
    ['refunds confirmed and not paid', report.unpaidRefunds],
    ['longest time without a capture', `${report.longestPause} s`],
    ['processes that ended with an error', report.processEnds],
    ['times that an operator ran recover', report.recoveries],
    ['chain and record', report.isAudited ? 'agree' : 'differ'],
    ['books', report.books.words],
  ]
  for (const [what, value] of rows) console.log(what.padEnd(36), value)
  for (const problem of new Set(report.problems)) console.log(' ', problem)
}
