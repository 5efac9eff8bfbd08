import { equal } from 'node:assert/strict'
import {
  CaptureRevertedError,
  captureCall,
  explainSignature,
  type SignedPayment,
  signCancellation,
  signPayment,
  waitForOutcome,
} from 'countersign'
import {
  draftOrder,
  readEnding,
  refusal,
  signedAndAccepted,
  waitForEvent,
} from './steps.js'
import type { Story } from './types.js'
import { moveToSavings } from './wallets.js'

const captured: Story = {
  id: 'captured',
  title: 'An order is captured, and the capture proven',
  ends: { chain: 'captured', order: 'captured' },
  moves: ({ amount }) => ({ payer: -amount, merchant: amount }),

  async play(scene) {
    const { orders } = scene.shop
    const { orderId, payment } = await signedAndAccepted(scene)

    const result = await orders.capture({ orderId })
    if (result.status !== 'captured') throw new Error(result.status)
    const { transactionHash, logIndex } = result.proof
    await scene.tell('merchant', 'captures the order', transactionHash)

    await waitForEvent(scene, { orderId, type: 'fulfil' })
    await scene.tell(
      'worker',
      `says fulfil: log ${logIndex} of that block is safe now`,
    )
    const ending = await readEnding(scene, { orderId, payment })
    const { outcome } = ending
    equal(outcome.status, 'captured')
    equal(outcome.proof.transactionHash, transactionHash)
    return ending
  },
}

const canceled: Story = {
  id: 'canceled',
  title: 'The payer cancels, and the merchant pays the gas for it',
  ends: { chain: 'canceled', order: 'canceled' },

  async play(scene) {
    const { orders } = scene.shop
    const { orderId, payment } = await signedAndAccepted(scene)

    const request = await orders.cancellationToSign({ orderId })
    if (!request.ok) throw new Error(request.reason)
    const cancellation = await signCancellation(scene.chain.clients.payer, {
      cancellation: request.cancellation,
      expect: {
        chainId: scene.expect.chainId,
        token: scene.expect.token,
        nonce: payment.message.nonce,
      },
    })
    await scene.tell('payer', 'signs a cancellation, which costs no gas')
    const verdict = await orders.acceptCancellation({ orderId, cancellation })
    equal(verdict.ok || verdict.reason, true)
    await scene.tell('merchant', 'accepts it, and will not capture any more')

    await waitForEvent(scene, { orderId, type: 'canceled' })
    const ending = await readEnding(scene, { orderId, payment })
    const { outcome, order } = ending
    equal(outcome.status, 'canceled')
    equal(outcome.transactionHash, order.cancellation?.transactionHash)
    await scene.tell(
      'worker',
      'has submitted the cancellation',
      outcome.transactionHash,
    )
    equal(await refusal(scene, orderId), 'canceled')
    await scene.tell('merchant', 'cannot capture any more: canceled')
    return ending
  },
}

const expired: Story = {
  id: 'expired',
  title: 'Nobody captures it in time, and the payer is asked again',
  ends: { chain: 'expired', order: 'drafted' },

  async play(scene) {
    const { chain, shop } = scene
    const reader = chain.clients.public
    const { orderId, payment } = await signedAndAccepted(scene)

    const { timestamp } = await reader.getBlock()
    await chain.warp(payment.message.validBefore - timestamp)
    await scene.tell(
      'chain',
      'reaches validBefore, and that bound is exclusive',
    )

    await waitForEvent(scene, { orderId, type: 'expired' })
    await scene.tell('worker', 'puts the order on record as expired')
    equal(await refusal(scene, orderId), 'expired')
    await scene.tell('merchant', 'cannot capture any more: expired')

    const outcome = await waitForOutcome(reader, { payment })
    const again = await shop.orders.reauthorize({ orderId })
    if (!again.ok) throw new Error(again.reason)
    await scene.tell(
      'merchant',
      'offers the order again, for another 15 minutes',
    )
    return { outcome, order: again.order }
  },
}

const moved: Story = {
  id: 'moved',
  title: 'The payer signs, then moves the funds elsewhere',
  ends: { chain: 'unused', order: 'voided' },
  moves: ({ purse }) => ({ payer: -purse, savings: purse }),

  async play(scene) {
    const { orders } = scene.shop
    const { orderId, payment } = await signedAndAccepted(scene)

    const hash = await moveToSavings(scene.chain)
    await scene.tell('payer', 'moves every token to a savings account', hash)

    equal(await refusal(scene, orderId), 'insufficientFunds')
    await scene.tell('merchant', 'captures: insufficientFunds, before any gas')
    equal((await orders.get({ orderId })).state, 'stored')
    await scene.tell('worker', 'keeps the order open, should funds return')

    const verdict = await orders.void({ orderId })
    equal(verdict.ok || verdict.reason, true)
    await scene.tell('merchant', 'gives it up: voided, never to be submitted')
    return readEnding(scene, { orderId, payment })
  },
}

const mismatched: Story = {
  id: 'mismatched',
  title: 'The one everybody gets wrong: sign Transfer, call receive',
  ends: { chain: 'unused', order: 'drafted' },

  async play(scene) {
    const { chain, expect, shop } = scene
    const { payer, public: reader } = chain.clients
    const drafted = await draftOrder(scene)
    const orderId = drafted.order.id
    await scene.tell('merchant', 'drafts a ReceiveWithAuthorization')

    const primaryType = 'TransferWithAuthorization'
    const from = payer.account.address
    const message = { ...drafted.payment.message, from }
    const other = { ...drafted.payment, message, primaryType } as const
    const signed = await signPayment(payer, {
      payment: other,
      expect: { ...expect, primaryType },
    })
    await scene.tell('payer', `signs a ${primaryType} instead`)
    const verdict = await shop.orders.accept({ orderId, payment: signed })
    equal(verdict.ok || verdict.reason, 'wrongPrimaryType')
    await scene.tell('merchant', 'does not accept it: wrongPrimaryType')

    // What so much code out there does: the same signature, the other function.
    const payment: SignedPayment = {
      ...signed,
      primaryType: 'ReceiveWithAuthorization',
    }
    const { to, data } = captureCall({ payment })
    const hash = await shop.merchant.sendTransaction({
      to,
      data,
      gas: 200_000n,
    })
    const error = await waitForOutcome(reader, { payment, hash }).catch(
      (error: unknown) => error,
    )
    if (!(error instanceof CaptureRevertedError)) throw error
    equal(error.reason, 'wrongSigner')
    await scene.tell(
      'merchant',
      'sends it to receiveWithAuthorization all the same',
      hash,
    )
    await scene.tell('token', `reverts: "${error.details.words}"`)

    const relabelled = await shop.orders.accept({ orderId, payment })
    equal(relabelled.ok || relabelled.reason, 'wrongSigner')
    await scene.tell('merchant', 'does not accept it relabelled: wrongSigner')
    const explanation = await explainSignature({ payment })
    equal(explanation.found && explanation.differences[0]?.signed, primaryType)
    await scene.tell('merchant', 'asks why: the payer signed the other type')
    return readEnding(scene, { orderId, payment: signed })
  },
}

export const stories: readonly Story[] = [
  captured,
  canceled,
  expired,
  moved,
  mismatched,
]
