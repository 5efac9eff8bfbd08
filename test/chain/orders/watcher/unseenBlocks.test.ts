import { cancelPayment, capturePayment } from 'countersign'
import { expect, test } from 'vitest'
import type { OrdersContext } from '../../../../src/orders/context/types.js'
import { contextOf as contextOfOrders } from '../../../../src/orders/contextOf.js'
import { auditOrders } from '../../../../src/orders/verbs/auditOrders.js'
import { draft, fakeNode, mined, revoke } from '../../support/desk.js'
import { recordReceipt } from '../../support/recordReceipt.js'
import { chain, policy } from '../../support/reorgChain.js'
import { openShop, storedOrder } from '../../support/shop.js'
import {
  mineBlocks,
  orderOf,
  typesOf,
  watcherOf,
  watchOf,
} from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

const drop = (depth: number) => chain.reorg({ depth, transactions: 'dropped' })

test.each(['included', 'safe'] as const)(
  'a capture whose block was replaced before any look saw it is taken back and sent again, fulfilled at %s',
  async (fulfilAt) => {
    const shop = await openShop(chain, {
      policy: { capture: 'manual', fulfilAt, pollingInterval: 20 },
    })
    const { context } = contextOfOrders(shop.orders)
    const look = watcherOf(context)
    const { id } = await storedOrder(chain, shop)
    await mineBlocks(chain, 1)
    await look()
    expect(await shop.orders.capture({ orderId: id })).toMatchObject({
      status: 'captured',
    })
    await drop(1)
    await look()
    expect((await orderOf(context, id)).state).toBe('capturing')
    expect(await typesOf(context, id)).not.toContain('fulfil')
    expect(await shop.orders.capture({ orderId: id })).toMatchObject({
      status: 'captured',
    })
    await look()
    expect((await auditOrders(context)).ok).toBe(true)
    const fulfilled = (await typesOf(context, id)).includes('fulfil')
    expect(fulfilled).toBe(fulfilAt === 'included')
    await shop.orders.close()
  },
)

/** An order and its transaction, on record as a submitter writes it. */
async function putSettled(
  context: OrdersContext,
  kind: 'capture' | 'cancel' | 'consumed',
) {
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const { merchant, relayer } = chain.clients
  const { nonce } = payment.message
  const send = async () =>
    kind === 'cancel'
      ? cancelPayment(relayer, { cancellation: await revoke(chain, payment) })
      : capturePayment(merchant, {
          payment:
            kind === 'capture'
              ? payment
              : await draft(chain, { amount: '1', nonce }),
        })
  const hash = await mined(chain, send())
  return { id, write: await recordReceipt(context, id, hash) }
}

test.each(['capture', 'cancel', 'consumed'] as const)(
  'a %s of a block that no look saw is taken back in the first look',
  async (kind) => {
    const context = contextOf(chain, { policy })
    const look = watcherOf(context)
    await mineBlocks(chain, 1)
    await look()
    const { id, write } = await putSettled(context, kind)
    await write()
    await drop(1)
    await look()
    expect((await orderOf(context, id)).state).toBe('stored')
    expect(await typesOf(context, id)).not.toContain('fulfil')
  },
)

test('a proof of replaced blocks that is written after the look that saw the fork is taken back', async () => {
  const context = contextOf(chain, { policy })
  // Reconciles once, so that only the late write brings the proof.
  const { look } = watchOf(context)
  await look()
  const { id, write } = await putSettled(context, 'capture')
  await mineBlocks(chain, 2)
  await look()
  await drop(3)
  await mineBlocks(chain, 3)
  await look()
  await write()
  await look()
  expect((await orderOf(context, id)).state).toBe('stored')
  expect(await typesOf(context, id)).toEqual(['captured', 'reorged'])
})

/** A context whose node lacks one block, or does not answer about it. */
function contextWithout() {
  const hidden: { block?: bigint | undefined; asked: bigint[] } = { asked: [] }
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    const [asked] = (params ?? []) as [string]
    if (method !== 'eth_getBlockByNumber' || !asked.startsWith('0x'))
      return forward()
    hidden.asked.push(BigInt(asked))
    return BigInt(asked) === hidden.block ? null : forward()
  })
  const tokens = [{ client, token: chain.token }]
  return { hidden, context: contextOf(chain, { tokens, policy }) }
}

test('a block that the node does not have decides nothing, and holds up only its own order', async () => {
  const { hidden, context } = contextWithout()
  const look = watcherOf(context)
  await look()
  const first = await putSettled(context, 'capture')
  const second = await putSettled(context, 'capture')
  await mineBlocks(chain, 1)
  await first.write()
  await second.write()
  hidden.block = (await orderOf(context, first.id)).settledBlock
  await look()
  expect(await typesOf(context, first.id)).toEqual(['captured'])
  expect(await typesOf(context, second.id)).toEqual(['captured', 'fulfil'])
  hidden.block = undefined
  await look()
  expect(await typesOf(context, first.id)).toEqual(['captured', 'fulfil'])
})

test('while head and blocks come from different branches, a proof is neither taken back nor fulfilled', async () => {
  let other: bigint | undefined
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    const answer = await forward()
    const [asked] = (params ?? []) as [string]
    if (other === undefined) return answer
    if (method === 'eth_getTransactionReceipt') return null
    const isOfOther =
      method === 'eth_getBlockByNumber' &&
      asked.startsWith('0x') &&
      BigInt(asked) >= other
    return isOfOther
      ? { ...Object(answer), hash: `0x${'cd'.repeat(32)}` }
      : answer
  })
  const tokens = [{ client, token: chain.token }]
  const context = contextOf(chain, { tokens, policy })
  const look = watcherOf(context)
  await look()
  const { id, write } = await putSettled(context, 'capture')
  await mineBlocks(chain, 1)
  await write()
  other = (await orderOf(context, id)).settledBlock
  for (let at = 0; at < 3; at++) await look()
  expect(await typesOf(context, id)).toEqual(['captured'])
  other = undefined
  await expect
    .poll(async () => {
      await look()
      return typesOf(context, id)
    })
    .toEqual(['captured', 'fulfil'])
})

test('two looks ask about the block of a fresh proof, and no later look', async () => {
  const { hidden, context } = contextWithout()
  const { look } = watchOf(context)
  await look()
  const { id, write } = await putSettled(context, 'capture')
  await write()
  const { settledBlock } = await orderOf(context, id)
  await mineBlocks(chain, 1)
  const counts: number[] = []
  for (let at = 0; at < 4; at++) {
    await mineBlocks(chain, 1)
    hidden.asked.length = 0
    await look()
    counts.push(hidden.asked.filter((one) => one === settledBlock).length)
  }
  expect(counts).toEqual([1, 1, 0, 0])
})
