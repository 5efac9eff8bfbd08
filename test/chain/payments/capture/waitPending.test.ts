import { capturePayment, getPaymentOutcome, waitForOutcome } from 'countersign'
import { zeroHash } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { draft } from '../../support/desk.js'
import { inventing, moved, startPending } from '../../support/inventedHashes.js'

const chain = await startPending()
afterAll(() => chain.stop())
const { merchant } = chain.clients

/** True when a promise is still open after some polls. */
async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open')
  const later = new Promise((resolve) => setTimeout(resolve, 150, open))
  return (await Promise.race([promise, later])) === open
}

async function capturePending() {
  const payment = await draft(chain)
  const hash = await capturePayment(merchant, { payment })
  await chain.preconfirmations.tick()
  return { payment, hash }
}

test('a receipt of the pending block that names a block hash is a pre-confirmation', async () => {
  const { client } = inventing(chain)
  const sent = await capturePending()
  const wait = { ...sent, pollingInterval: 20 }
  const finality = 'preconfirmed'
  expect(await waitForOutcome(client, { ...wait, finality })).toMatchObject({
    status: 'captured',
    proof: { finality, blockHash: zeroHash },
  })
  expect(
    await getPaymentOutcome(client, { ...sent, block: 'pending' }),
  ).toMatchObject({ proof: { finality, blockHash: zeroHash } })
  expect(await getPaymentOutcome(client, sent)).toEqual({ status: 'unused' })
  const waiting = waitForOutcome(client, wait)
  expect(await isOpen(waiting)).toBe(true)
  await chain.preconfirmations.seal()
  const { hash: blockHash } = await chain.clients.public.getBlock()
  expect(await waiting).toMatchObject({
    proof: { finality: 'included', blockHash },
  })
})

test('a receipt whose block hash is not that of its block proves nothing final', async () => {
  let isMoved = true
  const { client } = inventing(chain, (receipt) =>
    isMoved ? moved(receipt) : receipt,
  )
  const sent = await capturePending()
  for (let blocks = 0; blocks < 4; blocks++) await chain.preconfirmations.seal()
  await expect(getPaymentOutcome(client, sent)).rejects.toMatchObject({
    name: 'NodeAnswerError',
    retryable: true,
  })
  const waiting = waitForOutcome(client, { ...sent, pollingInterval: 20 })
  expect(await isOpen(waiting)).toBe(true)
  isMoved = false
  expect(await waiting).toMatchObject({ proof: { finality: 'included' } })
})
