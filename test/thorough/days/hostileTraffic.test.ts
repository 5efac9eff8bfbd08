// The first time, all were refused by name and 460 purchases noticed nothing, on a
// busy machine; the heap was 22 MB before, 44 MB meanwhile and 31 MB afterwards.
import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createBuyerClient,
  createMerchantClient,
  type ProblemError,
  type ServerError,
} from 'countersign/client'
import { startDevChain } from 'countersign/devchain'
import { createWalletClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { sqliteFile } from '../../chain/support/chaos.js'
import { fundedAccount } from '../../chain/support/desk.js'
import { findBookProblems } from '../../chain/support/hardTimes.js'
import {
  type Answered,
  type RawRequest,
  sendMany,
  sendRaw,
  type Tally,
  tallyOf,
} from '../../chain/support/hostileClients.js'
import { bundleWorker } from '../../kills/bundleWorker.js'
import type { HttpWorkerState } from '../../kills/httpWorker.js'
import { openShop } from '../../kills/openShop.js'
import type { ShopPlan } from '../../kills/plan.js'
import { portOf, startChild } from '../../kills/runChild.js'

const [chain, worker] = await Promise.all([
  startDevChain({ blockTime: 0.3, epochBlocks: 1 }),
  bundleWorker('httpWorker'),
])
afterAll(async () => {
  worker.remove()
  await chain.stop()
})

const patience = { timeout: 300_000 }

/** Files that each process needs beside its streams. */
const spareFiles = 500

const mostFiles = Number(
  execFileSync('sh', ['-c', 'ulimit -Hn'])
    .toString()
    .trim()
    .replace('unlimited', '1000000'),
)
const wantedStreams = 10_000
const streams = Math.min(
  wantedStreams,
  Math.floor((mostFiles - spareFiles) / 1_000) * 1_000,
)
if (streams < wantedStreams)
  process.stdout.write(
    `${streams} streams, and not ${wantedStreams}: a process may open ${mostFiles} files here.\n`,
  )

/** Of the heap, by all that stays after the streams have ended. */
const mostGrowth = 1.75

/** Hostile requests without an answer; with the rest, below what is admitted. */
const streamsAtOnce = 150

/** Orders whose tokens hostile buyers have. */
const hostileOrders = 100

/** The same of slow bodies. */
const slowOrders = 25
const slowBodies = 10

const buyers = 20

/** Milliseconds between two purchases of a buyer. */
const pause = 2_000

async function startServer() {
  const keys = [generatePrivateKey(), generatePrivateKey()] as const
  const [honest, hostile] = keys.map((key) => privateKeyToAccount(key).address)
  for (const address of [honest, hostile])
    if (address)
      await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  const { file } = sqliteFile()
  const plan: ShopPlan = {
    engine: { sqlite: file },
    account: 'local',
    url: chain.urls.http,
    token: chain.token,
    keys,
    policy: { lease: 1_000, capture: 'onAccept', fulfilAt: 'included' },
  }
  const child = startChild(worker.file, plan)
  onTestFinished(() => child.kill('SIGKILL'))
  const port = await portOf(child)
  const url = `http://127.0.0.1:${port}`
  return {
    plan,
    port,
    url: `${url}/payments`,
    honest: honest ?? '',
    hostile: hostile ?? '',
    state: async () =>
      (await (await fetch(`${url}/state`)).json()) as HttpWorkerState,
  }
}

type HostedShop = Awaited<ReturnType<typeof startServer>>

/** What honest buyers and their merchant noticed. */
type Noticed = {
  bought: string[]
  /** Milliseconds of the slowest answer. */
  slowest: number
  /** Reasons for which a client had to ask again. */
  retries: unknown[]
}

/** Buys one thing, as a shop and its page do, until it is captured. */
async function buy(
  { url, honest: key }: HostedShop,
  noticed: Noticed,
  account: ReturnType<typeof privateKeyToAccount>,
): Promise<void> {
  const timed = async (request: Request): Promise<Response> => {
    const begun = performance.now()
    const response = await fetch(request)
    noticed.slowest = Math.max(noticed.slowest, performance.now() - begun)
    return response
  }
  const onRetry = ({ details }: ProblemError | ServerError) =>
    noticed.retries.push(details.reason)
  const line = { url, fetch: timed, onRetry }
  const merchant = createMerchantClient({ ...line, key })
  const { order, buyerToken } = await merchant.draft({ amount: '1' })
  const buyer = createBuyerClient({ ...line, orderId: order.id, buyerToken })
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(),
  })
  await buyer.pay(wallet, {
    expect: {
      chainId: chain.chain.id,
      token: chain.token,
      to: order.recipient,
      amount: '1',
    },
  })
  for await (const { order } of buyer.follow({ until: ['captured'] }))
    if (order.state === 'captured') noticed.bought.push(order.state)
}

/** Has each buyer buy now and then until it is over, and once at least. */
async function sellUntil(
  shop: HostedShop,
  isOver: () => boolean,
): Promise<Noticed> {
  const noticed: Noticed = { bought: [], slowest: 0, retries: [] }
  const accounts = await Promise.all(
    Array.from({ length: buyers }, () => fundedAccount(chain, 10n ** 12n)),
  )
  await Promise.all(
    accounts.map(async (account) => {
      for (;;) {
        await buy(shop, noticed, account)
        if (isOver()) return
        await sleep(pause)
      }
    }),
  )
  return noticed
}

const invented = 'ab'.repeat(32)

type Token = { id: string; token: string }

async function draftHostile({ url, hostile: key }: HostedShop) {
  const merchant = createMerchantClient({ url, key })
  const tokens: Token[] = []
  while (tokens.length < hostileOrders) {
    const { order, buyerToken } = await merchant.draft({ amount: '1' })
    tokens.push({ id: order.id, token: buyerToken })
  }
  return tokens
}

/** Streams of every kind, in turn. */
function planStreams(
  { hostile }: HostedShop,
  tokens: readonly Token[],
): RawRequest[] {
  return Array.from({ length: streams }, (_, at) => {
    const { id, token } = tokens[Math.floor(at / 10) % tokens.length] as Token
    const ofBuyer = `/payments/orders/${id}/events`
    switch (at % 10) {
      case 0:
        return { path: ofBuyer, key: invented }
      case 1:
        return { path: '/payments/merchant/events', key: hostile }
      case 2:
        return { path: '/payments/merchant/events', key: invented }
      default:
        return { path: ofBuyer, key: token }
    }
  })
}

const names = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf']

const malformed = ['%', '%00', '%ff', 'a'.repeat(5_000), '%F0%9F%92%A9']

/** Requests that are refused for one reason each, by that reason. */
function planRefused(
  { hostile }: HostedShop,
  { id, token }: Token,
  foreign: string,
): Record<string, RawRequest[]> {
  const orders = '/payments/merchant/orders'
  const post = (path: string, key: string, body: string): RawRequest => ({
    method: 'POST',
    path,
    key,
    body,
  })
  const huge = `{"amount":"${'9'.repeat(1_000_000)}"}`
  const ofBuyer = `/payments/orders/${id}/payment`
  return {
    unauthorized: [
      { path: orders, key: invented },
      { path: orders, key: '__proto__' },
      post(orders, '', '{"amount":"1"}'),
    ],
    orderNotFound: [
      { path: `${orders}/${foreign}`, key: hostile },
      post(`${orders}/${foreign}/capture`, hostile, '{}'),
      post(`${orders}/${foreign}/void`, hostile, '{}'),
      { path: `/payments/orders/${foreign}`, key: token },
      ...[...names, ...malformed].flatMap((name) => [
        { path: `${orders}/${name}`, key: hostile },
        { path: `/payments/orders/${name}/events`, key: token },
      ]),
    ],
    tooLarge: [
      post(orders, hostile, huge),
      post(ofBuyer, token, huge),
      {
        method: 'POST',
        path: orders,
        key: hostile,
        headers: [`content-length: ${10 ** 12}`],
      },
    ],
    invalidField: [
      ...names.flatMap((name) => [
        post(orders, hostile, `{"amount":"1","${name}":{"all":true}}`),
        post(ofBuyer, token, `{"${name}":{"all":true}}`),
        { path: `${orders}?${name}=1`, key: hostile },
      ]),
      post(orders, hostile, '['.repeat(60_000)),
    ],
  }
}

/** Bodies of which a byte comes now and then. Ends with the answers. */
function sendSlowly(
  { port, hostile }: HostedShop,
  tokens: readonly Token[],
): { sent: Answered[]; end(): void } {
  const headers = ['content-length: 60000']
  const ofBuyers = tokens.slice(0, slowOrders).flatMap(({ id, token: key }) =>
    Array.from({ length: slowBodies }, () =>
      sendRaw(port, {
        method: 'POST',
        path: `/payments/orders/${id}/payment`,
        key,
        headers,
      }),
    ),
  )
  const ofMerchant = Array.from({ length: 200 }, () =>
    sendRaw(port, {
      method: 'POST',
      path: '/payments/merchant/orders',
      key: hostile,
      headers,
    }),
  )
  const sent = [...ofBuyers, ...ofMerchant]
  const sending = setInterval(() => {
    for (const one of sent) one.send(' ')
  }, 1_000)
  return { sent, end: () => clearInterval(sending) }
}

/** Waits until nobody is connected. Returns the bytes of the heap then. */
async function heapAlone({ state }: HostedShop): Promise<number> {
  let found = await state()
  await expect
    .poll(async () => {
      found = await state()
      return found.sockets
    }, patience)
    .toBeLessThanOrEqual(buyers)
  return found.heap
}

test('hostile requests over 10,000 connections are refused by name while buyers buy and notice nothing, and leave no memory behind', async () => {
  const shop = await startServer()
  const { port } = shop
  const tokens = await draftHostile(shop)
  const foreign = createMerchantClient({ url: shop.url, key: shop.honest })
  const { order } = await foreign.draft({ amount: '1' })
  const [first] = tokens as [Token]
  const all: Answered[] = []
  const send = async (requests: RawRequest[], atOnce: number) => {
    const sent = await sendMany(port, requests, { atOnce })
    all.push(...sent)
    return sent
  }
  // What is compiled and kept once is there before the heap is compared.
  const quiet = await sellUntil(shop, () => true)
  await send(planStreams(shop, tokens).slice(0, 200), streamsAtOnce)
  for (const one of all.splice(0)) one.close()
  const before = await heapAlone(shop)

  let isOver = false
  const selling = sellUntil(shop, () => isOver)
  const slow = sendSlowly(shop, tokens)
  const answers: Record<string, Tally> = {}
  const attack = async () => {
    const plan = Object.entries(planRefused(shop, first, order.id))
    for (const [reason, requests] of plan)
      answers[reason] = await tallyOf(await send(requests, 10))
    return Object.fromEntries(
      plan.map(([reason, { length }]) => [reason, { [reason]: length }]),
    )
  }
  const attackOften = async () => {
    for (let round = 0; round < 10; round++) {
      await attack()
      // Hostile clients take each other's places for bodies, and nobody else's.
      for (const [reason, tally] of Object.entries(answers))
        expect([reason, 'overloaded']).toEqual(
          expect.arrayContaining(Object.keys(tally)),
        )
    }
  }
  const [opened] = await Promise.all([
    send(planStreams(shop, tokens), streamsAtOnce),
    attackOften(),
  ])
  const during = await shop.state()
  const slowAnswers = await tallyOf(slow.sent)
  slow.end()
  const wanted = await attack()
  isOver = true
  const noticed = await selling
  process.stdout.write(
    `${during.sockets} connections at once; ${noticed.bought.length} purchases, slowest answer ${noticed.slowest.toFixed(0)} ms (quiet: ${quiet.slowest.toFixed(0)} ms)\n`,
  )
  expect(answers).toEqual(wanted)
  const share = streams / 10
  expect(await tallyOf(opened)).toEqual({
    open: 4 * hostileOrders + 20,
    orderNotFound: share,
    unauthorized: share,
    tooManyStreams: 8 * share - 4 * hostileOrders - 20,
  })
  expect(slowAnswers).toEqual({
    timeout: 4 * slowOrders + 100,
    overloaded: slowOrders * (slowBodies - 4) + 100,
  })
  // What a busy machine answers late is no refusal.
  for (const refusal of ['overloaded', 'tooManyStreams'])
    expect(noticed.retries).not.toContain(refusal)

  for (const one of [...all, ...slow.sent]) one.close()
  const after = await heapAlone(shop)
  process.stdout.write(
    `heap ${(before / 2 ** 20).toFixed(1)} MB before, ${(during.heap / 2 ** 20).toFixed(1)} MB during, ${(after / 2 ** 20).toFixed(1)} MB after\n`,
  )
  expect(after).toBeLessThan(mostGrowth * before)

  const { orders } = openShop(shop.plan)
  onTestFinished(() => orders.close())
  const sold = quiet.bought.length + noticed.bought.length
  const isFinal = async () => {
    const { orders: all } = await orders.list({
      states: ['captured'],
      limit: 1,
    })
    return all[0]?.capture?.finality
  }
  await expect.poll(isFinal, patience).toBe('finalized')
  await orders.reconcile()
  expect(await orders.audit()).toMatchObject({ ok: true })
  const { destinations } = await orders.health()
  expect(
    Object.fromEntries(
      destinations.map(({ recipient, counts }) => [recipient, counts]),
    ),
  ).toEqual({
    [shop.honest.toLowerCase()]: { captured: sold, drafted: 1 },
    [shop.hostile.toLowerCase()]: { drafted: hostileOrders },
  })
  expect(await findBookProblems(chain, orders)).toEqual([])
})
