import { capturePayment, getPaymentOutcome, waitForOutcome } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import type { Client, Hash } from 'viem'
import { mine, setBlockTimestampInterval } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findEvidence } from '../../../../src/orders/evidence/findEvidence.js'
import { draft, fakeNode, fundedAccount, mined } from '../../support/desk.js'
import { capture, openShop } from '../../support/orderRows.js'
import { fileOf, orderOf, typesOf } from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
})
afterAll(() => chain.stop())

type Replica = { client: Client; catchUp: () => void; looks: () => number }

/** A node that calls contracts at the head; blocks and logs are one behind. */
function laggingNode(): Replica {
  let isBehind = true
  let looks = 0
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    if (!isBehind) return forward()
    const { public: reader } = chain.clients
    const head = await reader.request({ method: 'eth_blockNumber' })
    const before = `0x${(BigInt(head) - 1n).toString(16)}` as const
    const [first, ...rest] = params as [unknown, ...unknown[]]
    const ask = (changed: unknown) =>
      reader.request({ method, params: [changed, ...rest] } as never)
    switch (method) {
      case 'eth_call':
        looks++
        return forward()
      case 'eth_getBlockByNumber':
        return ask(first === 'latest' || first === head ? before : first)
      case 'eth_getLogs': {
        const { toBlock, ...filter } = Object(first)
        const isNewer = BigInt(toBlock) >= BigInt(head)
        return ask({ ...filter, toBlock: isNewer ? before : toBlock })
      }
      case 'eth_getTransactionReceipt': {
        const receipt = await forward()
        return Object(receipt).blockNumber === head ? null : receipt
      }
      default:
        return forward()
    }
  })
  const catchUp = () => {
    isBehind = false
  }
  return { client, catchUp, looks: () => looks }
}

/** As on Base, where five blocks share a second, or as on most chains. */
async function captureIn(second: 'the same' | 'another'): Promise<{
  payment: Awaited<ReturnType<typeof draft>>
  hash: Hash
}> {
  const { test: node, merchant } = chain.clients
  const payment = await draft(chain)
  const interval = second === 'another' ? 2 : 0
  await setBlockTimestampInterval(node, { interval })
  await mine(node, { blocks: 1 })
  const hash = await mined(chain, capturePayment(merchant, { payment }))
  return { payment, hash }
}

test.each([
  ['another', true],
  ['another', false],
  ['the same', true],
  ['the same', false],
] as const)(
  'a header older than the state is a passing fault and no outcome (in %s second, hash known: %s)',
  async (second, isKnown) => {
    const { payment, hash } = await captureIn(second)
    const { client, catchUp } = laggingNode()
    const asked = { payment, ...(isKnown ? { hash } : {}) }
    await expect(getPaymentOutcome(client, asked)).rejects.toMatchObject({
      name: 'NodeAnswerError',
      retryable: true,
      details: { method: 'eth_getBlockByNumber' },
    })
    catchUp()
    expect(await getPaymentOutcome(client, asked)).toMatchObject({
      status: 'captured',
      proof: { transactionHash: hash },
    })
  },
)

test.each(['another', 'the same'] as const)(
  'a wait goes on while a replica lags, however often it is asked (in %s second)',
  async (second) => {
    const { payment, hash } = await captureIn(second)
    const { client, catchUp, looks } = laggingNode()
    const waiting = waitForOutcome(client, { payment, pollingInterval: 5 })
    let isOver = false
    waiting.then(
      () => {
        isOver = true
      },
      () => {
        isOver = true
      },
    )
    while (looks() < 8 && !isOver)
      await new Promise((resolve) => setTimeout(resolve, 5))
    expect(isOver).toBe(false)
    catchUp()
    expect(await waiting).toMatchObject({
      status: 'captured',
      proof: { transactionHash: hash },
    })
  },
)

test('a nonce that was spent before all that is searched stays unknown', async () => {
  const { payment } = await captureIn('another')
  const { client } = fakeNode(chain, async ({ method }, forward) =>
    method === 'eth_getLogs' ? [] : forward(),
  )
  expect(await getPaymentOutcome(client, { payment })).toMatchObject({
    status: 'unknown',
  })
})

test('a node without the state of older blocks tells an outcome it cannot find as unknown', async () => {
  const { payment } = await captureIn('another')
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    if (method === 'eth_getLogs') return []
    const block = Object(params)[1]
    if (method === 'eth_call' && block !== 'latest')
      throw Object.assign(new Error('missing trie node'), { code: -32000 })
    return forward()
  })
  expect(await getPaymentOutcome(client, { payment })).toMatchObject({
    status: 'unknown',
  })
})

test('logs that lack what spent the nonce of an order are a fault, and not an open nonce', async () => {
  const context = contextOf(chain)
  const { payment } = await captureIn('another')
  const id = await putOrder(context, payment)
  const { order, attempts } = await fileOf(context, id)
  const [attempt] = attempts
  if (!attempt) throw new Error('no attempt')
  const { kinds } = context
  const stored = { order, attempt, kinds }
  let isWithout = true
  const { client } = fakeNode(chain, async ({ method }, forward) =>
    method === 'eth_getLogs' && isWithout ? [] : forward(),
  )
  await expect(findEvidence(client, stored)).rejects.toMatchObject({
    name: 'NodeAnswerError',
    retryable: true,
  })
  isWithout = false
  expect(await findEvidence(client, stored)).toMatchObject({
    kind: 'capture',
  })
})

test('an order that someone else captured is not rejected while logs lack it, and holds up no other', async () => {
  const account = await fundedAccount(chain)
  const { relayer, test: node } = chain.clients
  let refused = 0
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    if (method !== 'eth_getLogs' || refused >= 2) return forward()
    refused++
    return []
  })
  const shop = openShop(chain, { account, client })
  const transfer = { primaryType: 'TransferWithAuthorization' } as const
  const payment = await draft(chain, { ...transfer, to: account.address })
  const id = await putOrder(shop.context, payment)
  const other = await draft(chain, { to: account.address })
  const next = await putOrder(shop.context, other)
  await mined(chain, capturePayment(relayer, { payment }))
  const both = Promise.all([
    capture(shop, id, 60_000),
    capture(shop, next, 60_000),
  ])
  while ((await orderOf(shop.context, id)).state !== 'captured') {
    // The order is put aside for some seconds of the chain's time.
    await chain.warp(2)
    await mine(node, { blocks: 1 })
  }
  const results = await both
  expect(results.map(({ status }) => status)).toEqual(['captured', 'captured'])
  expect(await typesOf(shop.context, id)).not.toContain('captureRejected')
  expect(refused).toBe(2)
})
