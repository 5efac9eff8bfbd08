import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import { createOrders, type Orders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import { sealer } from 'countersign/store'
import { createClient, custom, type PrivateKeyAccount } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'
import { pay } from '../../support/shop.js'

// Blocks come only when they are asked for.
const chain = await startDevChain({ blockTime: 3600 })
afterAll(() => chain.stop())

const isFull = process.env.COUNTERSIGN_FULL !== undefined
const captures = isFull ? 500 : 200

/** A shop on a file, all of whose requests are counted as HTTP ones. */
async function openShop() {
  const endpoint = await startEndpoint(chain.urls.http)
  const account = await fundedAccount(chain)
  const folder = mkdtempSync(join(tmpdir(), 'countersign-requests-'))
  const client = createReadClient({ chain: chain.chain, url: endpoint.url })
  const transport = custom(client)
  const orders = createOrders({
    store: sqliteStore({ file: join(folder, 'orders.db') }),
    seal: sealer({ keys: { one: randomBytes(32) }, current: 'one' }),
    tokens: [{ client, token: chain.token }],
    wallets: [createClient({ account, chain: chain.chain, transport })],
    policy: { maxInFlight: 500 },
  })
  onTestFinished(async () => {
    await orders.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { orders, asked: endpoint.asked }
}

/** What buyers signed, of whom each pays ten orders. */
async function signOrders(orders: Orders, count: number) {
  const signed: Parameters<Orders['accept']>[0][] = []
  let buyer: PrivateKeyAccount | undefined
  for (let made = 0; made < count; made++) {
    if (made % 10 === 0) buyer = await fundedAccount(chain, 10_000_000n)
    const { order, payment } = await orders.draft({ amount: '1' })
    if (buyer)
      signed.push({ orderId: order.id, payment: await pay(buyer, payment) })
  }
  return signed
}

test('accepting a payment takes one HTTP request', async () => {
  const { orders, asked } = await openShop()
  for (const one of await signOrders(orders, 3)) {
    asked.length = 0
    expect(await orders.accept(one)).toMatchObject({ ok: true })
    expect(asked).toHaveLength(1)
  }
})

test('hundreds of captures share their HTTP requests', {
  timeout: 240_000,
}, async () => {
  const { orders, asked } = await openShop()
  const signed = await signOrders(orders, captures)
  for (const one of signed)
    expect(await orders.accept(one)).toMatchObject({ ok: true })
  asked.length = 0
  const began = performance.now()
  const mining = mineAfter(() => countSent(asked) === captures)
  onTestFinished(() => clearInterval(mining))
  const results = await Promise.all(
    signed.map(({ orderId }) => orders.capture({ orderId })),
  )
  const seconds = (performance.now() - began) / 1000
  expect(results.map(({ status }) => status)).toEqual(
    signed.map(() => 'captured'),
  )
  const { eth_sendRawTransaction: sends, eth_call: calls = 0 } = tally(asked)
  expect(sends).toBe(captures / 100)
  expect(calls).toBeLessThanOrEqual(captures / 100)
  // A poll takes two requests: one after each send, and one every second.
  const polls = asked.filter(isPoll).length
  expect(polls).toBeLessThanOrEqual(2 * (captures / 100 + seconds + 2))
  expect(asked.length - polls).toBeLessThanOrEqual((4 * captures) / 100)
})

/**
 * True for requests by which a poll finds out whether anything was mined. How
 * many there are depends on how long the machine takes.
 */
function isPoll([first, ...others]: readonly string[]): boolean {
  if (first === 'eth_getBlockByNumber') return true
  return first === 'eth_getTransactionReceipt' && others.length === 0
}

/** A node that mines while it is sent to may leave transactions lie. */
function mineAfter(isSent: () => boolean): NodeJS.Timeout {
  return setInterval(async () => {
    if (isSent()) await chain.clients.test.mine({ blocks: 3 })
  }, 100)
}

function countSent(asked: readonly string[][]): number {
  const isSend = (method: string) => method === 'eth_sendRawTransaction'
  return asked.flat().filter(isSend).length
}

/** How many HTTP requests there were of each kind, named by their first call. */
function tally(asked: readonly string[][]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [method = ''] of asked) counts[method] = (counts[method] ?? 0) + 1
  return counts
}
