import { capturePayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { ProofConflictError } from 'countersign/orders'
import { afterAll, expect, test } from 'vitest'
import type { Observation } from '../../../../src/core/observeFailure.js'
import type { OrdersContext } from '../../../../src/orders/context/types.js'
import { reconcile } from '../../../../src/orders/watcher/reconcile.js'
import { draft, mined } from '../../support/desk.js'
import {
  fileOf,
  mineBlocks,
  orderOf,
  typesOf,
  watcherOf,
} from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

const chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
afterAll(() => chain.stop())

/** Captures past the shop the payment of a new order. */
async function capturedElsewhere(context: OrdersContext) {
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  return { id, payment }
}

/**
 * Two orders whose payments are on chain and not on record, and a third one
 * that has the payment of the first on record.
 */
async function conflictingShop() {
  const failed: Observation['attributes'][] = []
  const context = contextOf(chain, {
    observe: ({ name, attributes }) => {
      if (name === 'watch.failed') failed.push(attributes)
    },
  })
  const wrong = await putOrder(context, await draft(chain))
  const copy = contextOf(chain)
  const { id, payment } = await capturedElsewhere(context)
  // Another record finds the proof of the payment.
  const same = await putOrder(copy, payment, { order: { id } })
  await reconcile(copy)
  const [proof] = (await fileOf(copy, same)).proofs
  if (!proof) throw new Error('no proof')
  const { version: _, ...row } = proof
  await context.store.write(({ proofs }) =>
    proofs.insert([{ ...row, orderId: wrong }]),
  )
  const other = await capturedElsewhere(context)
  return { context, failed, wrong, doubtful: id, other: other.id, proof }
}

const stateOf = async (context: OrdersContext, id: string) =>
  (await orderOf(context, id)).state

test('a payment that is on record for another order puts its order aside, and the others are settled', async () => {
  const { context, failed, wrong, doubtful, other } = await conflictingShop()
  await watcherOf(context)()
  expect(await stateOf(context, other)).toBe('captured')
  expect(await stateOf(context, doubtful)).toBe('stored')
  expect((await fileOf(context, wrong)).proofs).toHaveLength(1)
  expect(failed).toEqual([
    expect.objectContaining({ orderId: doubtful, error: 'ProofConflictError' }),
  ])
  expect(await typesOf(context)).not.toContain('unmatched')
})

test('a reconciliation writes everything else, and then names both orders', async () => {
  const { context, wrong, doubtful, other, proof } = await conflictingShop()
  const { transactionHash, logIndex } = proof
  const error = await reconcile(context).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ProofConflictError)
  expect(error).toMatchObject({
    retryable: false,
    details: {
      orderId: doubtful,
      recordedFor: wrong,
      transactionHash,
      logIndex,
    },
  })
  expect(await stateOf(context, other)).toBe('captured')
  expect(await stateOf(context, doubtful)).toBe('stored')
})

test('an expiry look puts the order aside too, and ends the others', async () => {
  const { context, failed, doubtful } = await conflictingShop()
  const late = await putOrder(context, await draft(chain))
  await watcherOf(context)()
  await chain.warp(1_000)
  await mineBlocks(chain, 1)
  failed.splice(0)
  await watcherOf(context)()
  expect(await stateOf(context, late)).toBe('expired')
  expect(await stateOf(context, doubtful)).toBe('stored')
  expect(failed).toContainEqual(
    expect.objectContaining({ orderId: doubtful, error: 'ProofConflictError' }),
  )
})
