import {
  buildCancellation,
  cancelPayment,
  captureCall,
  capturePayment,
  getPaymentOutcome,
  signCancellation,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import { keccak256, stringToHex } from 'viem'
import { setNextBlockTimestamp } from 'viem/actions'
import { expect, test } from 'vitest'
import { cancelPageOf } from '../support/settle.js'
import {
  cancel,
  capture,
  chain,
  client,
  draftAndSign,
  expected,
  merchant,
  mine,
  mineAt,
  moveFunds,
  node,
  now,
  relayer,
  sendUnchecked,
  stateOf,
  to,
  token,
} from '../support/specChain.js'

test('states, payer signs: unused, authorizationState is false', async () => {
  const { payment } = await draftAndSign()

  expect(await stateOf(payment)).toBe(false)
  expect(await getPaymentOutcome(client, { payment })).toEqual({
    status: 'unused',
  })
})

test('states, receiveWithAuthorization: captured, Transfer and AuthorizationUsed are emitted', async () => {
  const { payment } = await draftAndSign()

  const { logs } = await capture(payment)
  expect(logs.map(({ address, topics }) => [address, topics[0]])).toEqual([
    [token, keccak256(stringToHex('AuthorizationUsed(address,bytes32)'))],
    [token, keccak256(stringToHex('Transfer(address,address,uint256)'))],
  ])
  expect(await getPaymentOutcome(client, { payment })).toMatchObject({
    status: 'captured',
    proof: { submitter: to },
  })
})

test('states, receiveWithAuthorization, condition: the current time is inside the window', async () => {
  const start = (await now()) + 1_000n
  const window = { validAfter: start, validBefore: start + 900n }
  const { payment } = await draftAndSign(window)
  const call = captureCall({ payment })

  expect(await mine(merchant, call)).toBe(
    'FiatTokenV2: authorization is not yet valid',
  )
  await chain.warp(1_010n)
  expect(await mine(merchant, call)).toBe('success')
})

test('states, receiveWithAuthorization, condition: the payer still has enough balance', async () => {
  const { payment } = await draftAndSign({}, 12_499_999n)

  const verdict = await verifyPayment(client, { payment, expect: expected })
  expect(verdict).toMatchObject({ ok: false, reason: 'insufficientFunds' })
  expect(await mine(merchant, captureCall({ payment }))).toBe(
    'ERC20: transfer amount exceeds balance',
  )
})

test('states, receiveWithAuthorization, condition: token policy allows the transfer', async () => {
  const { payer, payment } = await draftAndSign()
  const { address: account } = payer.account

  await chain.block({ account })
  const blocked = await verifyPayment(client, { payment, expect: expected })
  await chain.block({ account, blocked: false })
  const allowed = await verifyPayment(client, { payment, expect: expected })
  expect(blocked).toMatchObject({ ok: false, reason: 'payerBlocked' })
  expect(allowed).toMatchObject({ ok: true })
})

test('states, receiveWithAuthorization: payment is guaranteed only by the successful transaction', async () => {
  const { payer, payment } = await draftAndSign()
  const verdict = await verifyPayment(client, { payment, expect: expected })
  await moveFunds(payer)

  const gas = 200_000n
  const hash = await sendUnchecked(payment, gas)
  expect(verdict).toMatchObject({ ok: true })
  await expect(waitForOutcome(client, { payment, hash })).rejects.toMatchObject(
    {
      name: 'CaptureRevertedError',
      reason: 'insufficientFunds',
    },
  )
})

test('states, cancelAuthorization: canceled, AuthorizationCanceled is emitted', async () => {
  const { payer, payment } = await draftAndSign()

  const { logs, transactionHash: hash } = await cancel(payer, payment)
  expect(logs.map(({ address, topics }) => [address, topics[0]])).toEqual([
    [token, keccak256(stringToHex('AuthorizationCanceled(address,bytes32)'))],
  ])
  expect(await waitForOutcome(client, { payment, hash })).toMatchObject({
    status: 'canceled',
    transactionHash: hash,
  })
})

test('states, cancelAuthorization: any later capture reverts', async () => {
  const { payer, payment } = await draftAndSign()
  await cancel(payer, payment)

  await expect(capturePayment(merchant, { payment })).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    reason: 'consumed',
  })
  expect(await mine(merchant, captureCall({ payment }))).toBe(
    'FiatTokenV2: authorization is used or canceled',
  )
})

test('states, cancelAuthorization: only the payer can sign it', async () => {
  const { payment } = await draftAndSign()
  const { domain, message, primaryType } = buildCancellation({ payment })
  const unsigned = {
    primaryType,
    domain,
    message: { ...message, authorizer: to },
  }
  const forged = await signCancellation(merchant, {
    cancellation: unsigned,
    expect: cancelPageOf(unsigned),
  })

  await expect(
    cancelPayment(relayer, { cancellation: { ...forged, message } }),
  ).rejects.toMatchObject({
    name: 'CancelRejectedError',
    reason: 'wrongSigner',
  })
})

test('states, merchant never submits: unused on chain, and valid until it expires', async () => {
  const { payment } = await draftAndSign()
  const { validBefore } = payment.message

  await mineAt(validBefore - 2n)
  expect(await stateOf(payment)).toBe(false)
  await setNextBlockTimestamp(node, { timestamp: validBefore - 1n })
  expect(await mine(merchant, captureCall({ payment }))).toBe('success')
})

test('states, time passes validBefore: unused on chain, no longer capturable', async () => {
  const { payment } = await draftAndSign()

  await mineAt(payment.message.validBefore)
  expect(await stateOf(payment)).toBe(false)
  expect(await getPaymentOutcome(client, { payment })).toEqual({
    status: 'expired',
  })
  expect(await mine(merchant, captureCall({ payment }))).toBe(
    'FiatTokenV2: authorization is expired',
  )
})

test('states, authorizationState: one consumed state for used and for canceled', async () => {
  const [captured, canceled] = [await draftAndSign(), await draftAndSign()]
  await capture(captured.payment)
  await cancel(canceled.payer, canceled.payment)

  const payments = [captured.payment, canceled.payment]
  expect(await Promise.all(payments.map(stateOf))).toEqual([true, true])
  const outcomes = await Promise.all(
    payments.map((payment) => getPaymentOutcome(client, { payment })),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(['captured', 'canceled'])
})
