import { equal } from 'node:assert/strict'
import {
  buildCancellation,
  CaptureRejectedError,
  CaptureRevertedError,
  cancelPayment,
  captureCall,
  capturePayment,
  explainSignature,
  getPaymentOutcome,
  preparePayment,
  type SignedPayment,
  signCancellation,
  signPayment,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import type { Scene, Story } from './types.js'
import { moveToSavings } from './wallets.js'

const captured: Story = {
  id: 'captured',
  title: 'A payment is captured, and the capture proven',
  ends: 'captured',
  moves: ({ amount }) => ({ payer: -amount, merchant: amount }),

  async play(scene) {
    const { merchant, public: reader } = scene.chain.clients
    const payment = await signedAndVerified(scene)

    const hash = await capturePayment(merchant, { payment })
    await scene.tell('merchant', 'captures the payment', hash)

    const outcome = await waitForOutcome(reader, {
      payment,
      hash,
      finality: 'safe',
    })
    equal(outcome.status, 'captured')
    equal(outcome.proof.transactionHash, hash)
    await scene.tell(
      'merchant',
      `has the proof: log ${outcome.proof.logIndex} of that block, now safe`,
    )
    return outcome
  },
}

const canceled: Story = {
  id: 'canceled',
  title: 'The payer cancels, and somebody else pays the gas for it',
  ends: 'canceled',

  async play(scene) {
    const { payer, merchant, relayer, public: reader } = scene.chain.clients
    const payment = await signedAndVerified(scene)

    const cancellation = await signCancellation(payer, {
      cancellation: buildCancellation({ payment }),
    })
    await scene.tell('payer', 'signs a cancellation, which costs no gas')
    const hash = await cancelPayment(relayer, { cancellation })
    await scene.tell('relayer', 'submits the cancellation', hash)
    const outcome = await waitForOutcome(reader, { payment, hash })
    equal(outcome.status, 'canceled')
    equal(outcome.transactionHash, hash)

    const reason = await refusal(capturePayment(merchant, { payment }))
    equal(reason, 'consumed')
    await scene.tell('merchant', `cannot capture any more: ${reason}`)
    return outcome
  },
}

const moved: Story = {
  id: 'moved',
  title: 'The payer signs, then moves the funds elsewhere',
  ends: 'unused',
  moves: ({ purse }) => ({ payer: -purse, savings: purse }),

  async play(scene) {
    const { merchant, public: reader } = scene.chain.clients
    const payment = await signedAndVerified(scene)

    const hash = await moveToSavings(scene.chain)
    await scene.tell('payer', 'moves every token to a savings account', hash)

    const { expect } = scene
    const verdict = await verifyPayment(reader, { payment, expect })
    equal(verdict.ok || verdict.reason, 'insufficientFunds')
    await scene.tell('merchant', 'verifies it again: insufficientFunds')

    const reason = await refusal(capturePayment(merchant, { payment }))
    equal(reason, 'insufficientFunds')
    await scene.tell(
      'merchant',
      'is kept from sending the capture: no gas lost',
    )
    return getPaymentOutcome(reader, { payment })
  },
}

const expired: Story = {
  id: 'expired',
  title: 'Nobody captures it in time',
  ends: 'expired',

  async play(scene) {
    const { chain, expect } = scene
    const { merchant, public: reader } = chain.clients
    const payment = await signedAndVerified(scene)

    const { timestamp } = await reader.getBlock()
    await chain.warp(payment.message.validBefore - timestamp)
    await scene.tell(
      'chain',
      'reaches validBefore, and that bound is exclusive',
    )

    const verdict = await verifyPayment(reader, { payment, expect })
    equal(verdict.ok || verdict.reason, 'expired')
    const reason = await refusal(capturePayment(merchant, { payment }))
    equal(reason, 'expired')
    await scene.tell('merchant', `cannot capture any more: ${reason}`)
    return waitForOutcome(reader, { payment })
  },
}

const mismatched: Story = {
  id: 'mismatched',
  title: 'The one everybody gets wrong: sign Transfer, call receive',
  ends: 'unused',

  async play(scene) {
    const { chain, order, expect } = scene
    const { payer, merchant, public: reader } = chain.clients
    const primaryType = 'TransferWithAuthorization'
    const draft = await preparePayment(reader, { ...order, primaryType })
    await scene.tell('merchant', `drafts a ${primaryType}`)
    const signed = await signPayment(payer, { payment: draft, expect })
    await scene.tell('payer', 'signs it')

    // What so much code out there does: the same signature, the other function.
    const payment: SignedPayment = {
      ...signed,
      primaryType: 'ReceiveWithAuthorization',
    }
    const { to, data } = captureCall({ payment })
    const hash = await merchant.sendTransaction({ to, data, gas: 200_000n })
    const error = await rejection(waitForOutcome(reader, { payment, hash }))
    if (!(error instanceof CaptureRevertedError)) throw error
    equal(error.reason, 'wrongSigner')
    await scene.tell('merchant', 'sends it to receiveWithAuthorization', hash)
    await scene.tell('token', `reverts: "${error.details.words}"`)

    const verdict = await verifyPayment(reader, { payment: signed, expect })
    equal(verdict.ok || verdict.reason, 'wrongPrimaryType')
    await scene.tell('merchant', 'verifies it instead: wrongPrimaryType')
    const reason = await refusal(capturePayment(merchant, { payment }))
    equal(reason, 'wrongSigner')
    await scene.tell(
      'merchant',
      'captures it relabelled: refused unsent, no gas',
    )
    const explanation = await explainSignature({ payment })
    equal(explanation.found && explanation.differences[0]?.signed, primaryType)
    await scene.tell('merchant', 'asks why: the payer signed the other type')
    return getPaymentOutcome(reader, { payment: signed })
  },
}

export const stories: readonly Story[] = [
  captured,
  canceled,
  moved,
  expired,
  mismatched,
]

/** How every good payment begins. */
async function signedAndVerified(scene: Scene): Promise<SignedPayment> {
  const { chain, order, expect } = scene
  const { payer, public: reader } = chain.clients

  const draft = await preparePayment(reader, order)
  await scene.tell('merchant', `drafts a payment of ${order.amount} USDC`)
  const payment = await signPayment(payer, { payment: draft, expect })
  await scene.tell('payer', 'signs it; nothing moves, nothing is reserved')

  const verdict = await verifyPayment(reader, { payment, expect })
  equal(verdict.ok || verdict.reason, true)
  await scene.tell('merchant', 'verifies it: the token would pay')
  return payment
}

/** Why the library kept a transaction from being sent. */
async function refusal(sending: Promise<unknown>): Promise<string> {
  const error = await rejection(sending)
  if (error instanceof CaptureRejectedError) return error.reason
  throw error
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('This had to fail, and did not.'),
    (error: unknown) => error,
  )
}
