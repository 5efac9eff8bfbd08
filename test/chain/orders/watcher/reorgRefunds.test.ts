import { capturePayment } from 'countersign'
import { erc20Abi } from 'viem'
import { sendRawTransaction, writeContract } from 'viem/actions'
import { expect, test } from 'vitest'
import type { OrdersContext } from '../../../../src/orders/context/types.js'
import { auditOrders } from '../../../../src/orders/verbs/auditOrders.js'
import { draft, mined } from '../../support/desk.js'
import { chain, policy } from '../../support/reorgChain.js'
import {
  eventsOf,
  fileOf,
  mineBlocks,
  moveMined,
  orderOf,
  typesOf,
  watcherOf,
} from '../../support/watching.js'
import { contextOf, putAttempt, putOrder } from '../../support/watchRows.js'

/** Ids under which money to give back was told. */
async function refundsOf(context: OrdersContext, id: string) {
  const events = await eventsOf(context)
  return events.flatMap(({ orderId, data }) =>
    orderId === id && data.refundId !== undefined ? [data.refundId] : [],
  )
}

test('a payment without an order that is lost is not counted any more', async () => {
  const context = contextOf(chain)
  await mineBlocks(chain, 1)
  const look = watcherOf(context)
  await look()
  const { payer, merchant } = chain.clients
  await mined(
    chain,
    writeContract(payer, {
      address: chain.token,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [merchant.account.address, 5n],
    }),
  )
  await look()
  await chain.reorg({ depth: 1, transactions: 'dropped' })
  await mineBlocks(chain, 1)
  await look()
  expect(await auditOrders(context)).toMatchObject({
    ok: true,
    destinations: [{ chain: { value: 0n }, unmatched: { count: 0 } }],
  })
})

test('an order paid twice that loses the first payment is paid by the second', async () => {
  const context = contextOf(chain, { policy })
  const look = watcherOf(context)
  await look()
  const primaryType = 'TransferWithAuthorization'
  const first = await draft(chain, { primaryType })
  const second = await draft(chain, { primaryType })
  const id = await putOrder(context, first)
  await putAttempt(context, id, second)
  const { merchant, relayer } = chain.clients
  await mined(chain, capturePayment(merchant, { payment: first }))
  await look()
  const hash = await mined(chain, capturePayment(relayer, { payment: second }))
  await look()
  expect((await orderOf(context, id)).overpaid).toBe(true)
  const request = { method: 'eth_getRawTransactionByHash', params: [hash] }
  const raw = await chain.clients.test.request(request as never)
  await chain.reorg({ depth: 2, transactions: 'dropped' })
  await sendRawTransaction(relayer, { serializedTransaction: raw })
  await mineBlocks(chain, 1)
  await look()
  const { order, proofs } = await fileOf(context, id)
  expect(order).toMatchObject({
    state: 'captured',
    settledHash: hash,
    overpaid: false,
  })
  expect(proofs.map(({ removed }) => removed).sort()).toEqual([false, true])
  const types = await typesOf(context, id)
  expect(types.filter((type) => type === 'fulfil')).toHaveLength(1)
  expect((await auditOrders(context)).ok).toBe(true)
})

test('a payment to give back that moved to another block is told once', async () => {
  const context = contextOf(chain)
  const look = watcherOf(context)
  await look()
  const payment = await draft(chain)
  const id = await putOrder(context, payment, { order: { state: 'voided' } })
  const hash = await mined(
    chain,
    capturePayment(chain.clients.merchant, { payment }),
  )
  await look()
  const receipt = await moveMined(chain, hash, 2)
  await look()
  expect(await orderOf(context, id)).toMatchObject({
    unexpected: true,
    settledBlock: receipt.blockNumber,
  })
  expect((await fileOf(context, id)).proofs).toMatchObject([
    { blockHash: receipt.blockHash, removed: false },
  ])
  expect(await typesOf(context, id)).toEqual([
    'captured',
    'refundDue',
    'captured',
  ])
  expect(await refundsOf(context, id)).toEqual([`${id}/1`])
})

test('an order paid twice is told so once, whichever of both moved', async () => {
  const context = contextOf(chain)
  const look = watcherOf(context)
  await look()
  const primaryType = 'TransferWithAuthorization'
  const first = await draft(chain, { primaryType })
  const second = await draft(chain, { primaryType })
  const id = await putOrder(context, first)
  await putAttempt(context, id, second)
  const { relayer } = chain.clients
  const settledHash = await mined(
    chain,
    capturePayment(relayer, { payment: first }),
  )
  await look()
  await mined(chain, capturePayment(relayer, { payment: second }))
  await look()
  const receipt = await moveMined(chain, settledHash, 3)
  await look()
  expect(await orderOf(context, id)).toMatchObject({
    overpaid: true,
    settledHash,
    settledBlock: receipt.blockNumber,
  })
  const types = await typesOf(context, id)
  expect(types.filter((type) => type === 'overpaid')).toHaveLength(1)
  expect(await refundsOf(context, id)).toEqual([`${id}/2`])
  expect((await auditOrders(context)).ok).toBe(true)
})

test('a payment to give back that was lost and comes again keeps its id', async () => {
  const context = contextOf(chain)
  const look = watcherOf(context)
  await look()
  const payment = await draft(chain)
  const id = await putOrder(context, payment, { order: { state: 'voided' } })
  const { merchant } = chain.clients
  await mined(chain, capturePayment(merchant, { payment }))
  await look()
  await chain.reorg({ depth: 1, transactions: 'dropped' })
  await mineBlocks(chain, 1)
  await look()
  expect((await orderOf(context, id)).state).toBe('voided')
  await mined(chain, capturePayment(merchant, { payment }))
  await look()
  expect(await refundsOf(context, id)).toEqual([`${id}/1`, `${id}/1`])
})
