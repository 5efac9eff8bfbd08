import { cancelPayment, capturePayment, type SignedPayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import type { Hash } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { findEvidence } from '../../../../src/orders/evidence/findEvidence.js'
import { draft, mined, revoke } from '../../support/desk.js'
import { fileOf, mineBlocks } from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

// The node calls a block safe below 4 others, and finalized below 8.
const chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
afterAll(() => chain.stop())

const { public: client, merchant, relayer } = chain.clients
const context = contextOf(chain)

/** An order on record for a payment, with its first attempt. */
async function recorded(payment: SignedPayment) {
  const { order, attempts } = await fileOf(
    context,
    await putOrder(context, payment),
  )
  const [attempt] = attempts
  if (!attempt) throw new Error('an order without an attempt')
  return { order, attempt, kinds: context.kinds }
}

const capture = (payment: SignedPayment): Promise<Hash> =>
  mined(chain, capturePayment(merchant, { payment }))

test('an unused nonce in an open window is no evidence', async () => {
  const it = await recorded(await draft(chain))

  expect(await findEvidence(client, it)).toBeUndefined()
})

test('an attempt without a payer is not asked about', async () => {
  const { order, attempt, kinds } = await recorded(await draft(chain))

  expect(
    await findEvidence(client, {
      order: { ...order, payer: undefined },
      attempt: { ...attempt, payer: undefined },
      kinds,
    }),
  ).toBeUndefined()
})

test('a capture is evidence with its proof, with its transaction named or not', async () => {
  const payment = await draft(chain)
  const it = await recorded(payment)
  const hash = await capture(payment)

  const found = await findEvidence(client, it)
  expect(found).toMatchObject({
    kind: 'capture',
    proof: { kind: 'capture', transactionHash: hash },
  })
  expect(await findEvidence(client, { ...it, hash })).toEqual(found)
})

test('a capture is no evidence at a block before it', async () => {
  const payment = await draft(chain)
  const it = await recorded(payment)
  const block = await client.getBlockNumber({ cacheTime: 0 })
  await capture(payment)

  expect(await findEvidence(client, { ...it, block })).toBeUndefined()
})

test('a cancellation is evidence with its transaction', async () => {
  const payment = await draft(chain)
  const it = await recorded(payment)
  const cancellation = await revoke(chain, payment)
  const hash = await mined(chain, cancelPayment(relayer, { cancellation }))

  expect(await findEvidence(client, it)).toMatchObject({
    kind: 'cancel',
    proof: { kind: 'cancel', transactionHash: hash },
  })
})

test('a nonce spent on another payment is consumed, by the transaction that spent it', async () => {
  const asked = await draft(chain)
  const it = await recorded(asked)
  const other = await draft(chain, {
    amount: '0.01',
    nonce: asked.message.nonce,
  })
  const hash = await capture(other)

  expect(await findEvidence(client, it)).toMatchObject({
    kind: 'consumed',
    transactionHash: hash,
  })
})

test('an expiry is final only at a finalized block', async () => {
  const it = await recorded(await draft(chain))
  await chain.warp(901)
  await mineBlocks(chain, 1)

  expect(await findEvidence(client, it)).toMatchObject({
    kind: 'expired',
    final: false,
  })
  await mineBlocks(chain, 16)
  expect(
    await findEvidence(client, { ...it, block: 'finalized' }),
  ).toMatchObject({ kind: 'expired', final: true })
})
