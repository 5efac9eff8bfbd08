import { startDevChain } from 'countersign/devchain'
import type { Hex } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import { runWorker } from '../../../../src/orders/runWorker.js'
import { draft, fakeNode, fundedAccount } from '../../support/desk.js'
import {
  capture,
  openNonces,
  openShop,
  rowsOf,
  type Shop,
  type ShopParameters,
  storeOrder,
  storeOrders,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
const { test: control } = chain.clients
afterAll(() => chain.stop())
afterEach(() => control.setAutomine(true))

const until = (work: () => Promise<unknown>) =>
  expect.poll(work, { timeout: 30_000 })

/** Runs a worker until the work is done, and then stops it. */
async function runDuring(
  { context, engine }: Shop,
  work: () => Promise<unknown>,
): Promise<void> {
  const stop = new AbortController()
  const run = runWorker(context, engine, { signal: stop.signal })
  try {
    await work()
  } finally {
    stop.abort()
    await run
  }
}

const orderOf = async (shop: Shop, id: string) =>
  (await rowsOf(shop, [id])).orders[0]

const typesOf = async (shop: Shop, id: string) =>
  (await rowsOf(shop, [id])).events.map(({ type }) => type)

/** Pauses the token, or blocks an account, while the first capture is mined. */
function spoilFirst(
  spoil: (isOn: boolean) => Promise<void>,
): NonNullable<ShopParameters['answer']> {
  let isFirst = true
  return async ({ method }, forward) => {
    if (method !== 'eth_sendRawTransaction' || !isFirst) return forward()
    isFirst = false
    await spoil(true)
    const sent = await forward()
    await spoil(false)
    return sent
  }
}

test('a capture that fails because the issuer paused holds nobody, and a policy tries it again', async () => {
  const account = await fundedAccount(chain)
  const answer = spoilFirst((isOn) => chain.pause(isOn))
  const policy = { capture: 'onAccept' } as const
  const shop = openShop(chain, { account, answer, policy })
  const signer = await fundedAccount(chain, 10_000_000n)
  const [first = ''] = await storeOrders(shop, 1, { signer })
  const others = await storeOrders(shop, 2, { signer })
  expect(await capture(shop, first)).toMatchObject({
    status: 'rejected',
    reason: 'paused',
    order: { state: 'stored', needsReview: false },
  })
  const { orders } = await rowsOf(shop, others)
  expect(orders.map(({ needsReview }) => needsReview)).toEqual([false, false])
  await runDuring(shop, () =>
    until(async () => {
      await chain.warp(3)
      return (await orderOf(shop, first))?.state
    }).toBe('captured'),
  )
  expect(await typesOf(shop, first)).not.toContain('needsReview')
})

test('a capture that fails because the recipient is blocked holds nobody', async () => {
  const account = await fundedAccount(chain)
  const answer = spoilFirst((blocked) =>
    chain.block({ account: account.address, blocked }),
  )
  const shop = openShop(chain, { account, answer })
  const signer = await fundedAccount(chain, 10_000_000n)
  const [first = '', other = ''] = await storeOrders(shop, 2, { signer })
  expect(await capture(shop, first)).toMatchObject({
    status: 'rejected',
    reason: 'recipientBlocked',
    order: { needsReview: false },
  })
  expect(await orderOf(shop, other)).toMatchObject({ needsReview: false })
})

test('what a policy wants is tried again after its transaction was released', async () => {
  const account = await fundedAccount(chain)
  const policy = { capture: 'onAccept', bumpAfter: 5 } as const
  const shop = openShop(chain, { account, policy })
  const signer = await fundedAccount(chain, 1_000_000n)
  const payment = await draft(chain, {
    to: account.address,
    amount: '1',
    signer,
  })
  await control.setAutomine(false)
  const id = await storeOrder(shop, payment, { sendDue: 0n })
  await runDuring(shop, async () => {
    await until(() => openNonces(shop)).toBe(1)
    // The node forgets it, and the payer is blocked for a while.
    await control.request({ method: 'anvil_dropAllTransactions' } as never)
    await control.setAutomine(true)
    await chain.block({ account: signer.address })
    await control.setAutomine(false)
    await until(async () => {
      await chain.warp(6)
      return (await typesOf(shop, id)).at(-1)
    }).toBe('captureRejected')
    await control.setAutomine(true)
    await chain.block({ account: signer.address, blocked: false })
    await until(async () => {
      await chain.warp(3)
      return (await orderOf(shop, id))?.state
    }).toBe('captured')
  })
})

test('what a policy wants is tried again two seconds after a first refusal', async () => {
  const account = await fundedAccount(chain)
  const policy = { capture: 'onAccept' } as const
  const shop = openShop(chain, { account, policy })
  const signer = await fundedAccount(chain)
  const payment = await draft(chain, { to: account.address, signer })
  const id = await storeOrder(shop, payment, { sendDue: 0n })
  await runDuring(shop, async () => {
    await until(async () => (await orderOf(shop, id))?.reason).toBe(
      'insufficientFunds',
    )
    const { timestamp } = await chain.clients.public.getBlock()
    const due = (await orderOf(shop, id))?.sendDue ?? 0n
    expect(due - timestamp).toBeLessThanOrEqual(2n)
  })
})

const chainWord = (31337).toString(16).padStart(16, '0')
const otherWord = (1).toString(16).padStart(16, '0')

/** The executor's answers as a node of another network gives them. */
function ofOtherChain(answer: unknown): unknown {
  return typeof answer === 'string'
    ? answer.replace(chainWord, otherWord)
    : answer
}

test('one answer of another chain rejects no capture, and a policy goes on', async () => {
  const account = await fundedAccount(chain)
  let lies = 0
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    const answer = await forward()
    if (method !== 'eth_call') return answer
    const lie = ofOtherChain(answer)
    if (lie === answer || lies > 0) return answer
    lies++
    return lie as Hex
  })
  const policy = { capture: 'onAccept' } as const
  const shop = openShop(chain, { account, policy, client })
  const payment = await draft(chain, { to: account.address })
  const id = await storeOrder(shop, payment, { sendDue: 0n })
  await runDuring(shop, () =>
    until(async () => (await orderOf(shop, id))?.state).toBe('captured'),
  )
  expect(lies).toBe(1)
  expect(await typesOf(shop, id)).not.toContain('captureRejected')
})
