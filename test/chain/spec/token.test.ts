import {
  buildCancellation,
  buildPayment,
  cancelCall,
  captureCall,
  capturePayment,
  eip3009Abi,
  InvalidAmountError,
  parseAmount,
  signCancellation,
  waitForOutcome,
} from 'countersign'
import { isAddressEqual, pad, slice, toHex } from 'viem'
import { readContract } from 'viem/actions'
import { expect, test } from 'vitest'
import { cancelPageOf } from '../support/settle.js'
import {
  cancel,
  capture,
  chain,
  client,
  draftAndSign,
  merchant,
  mine,
  moveFunds,
  read,
  receiptOf,
  sample,
  sendUnchecked,
  stateOf,
  to,
  token,
} from '../support/specChain.js'

test('operations, name and version: no input, a string', async () => {
  expect(await read('name')).toBe('USD Coin')
  expect(await read('version')).toBe('2')
})

test('operations, authorizationState: payer and nonce in, a boolean out', async () => {
  const { payment } = await draftAndSign()
  const { from, nonce } = payment.message
  const ask = () =>
    readContract(client, {
      address: token,
      abi: eip3009Abi,
      functionName: 'authorizationState',
      args: [from, nonce],
    })

  expect(await ask()).toBe(false)
  await capture(payment)
  expect(await ask()).toBe(true)
})

test('operations, receiveWithAuthorization (parameters not shown): the six members, then v, r, s', async () => {
  const { payment } = await draftAndSign()
  const { from, value, validAfter, validBefore, nonce } = payment.message
  const signature = payment.signature

  expect(captureCall({ payment })).toMatchObject({
    to: token,
    functionName: 'receiveWithAuthorization',
    args: [
      from,
      to,
      value,
      validAfter,
      validBefore,
      nonce,
      Number(slice(signature, 64)),
      slice(signature, 0, 32),
      slice(signature, 32, 64),
    ],
  })
})

test('operations, cancelAuthorization (parameters not shown): payer and nonce, then v, r, s', async () => {
  const { payer, payment } = await draftAndSign()
  const unsigned = buildCancellation({ payment })
  const cancellation = await signCancellation(payer, {
    cancellation: unsigned,
    expect: cancelPageOf(unsigned),
  })
  const { signature } = cancellation

  expect(cancelCall({ cancellation })).toMatchObject({
    to: token,
    functionName: 'cancelAuthorization',
    args: [
      payment.message.from,
      payment.message.nonce,
      Number(slice(signature, 64)),
      slice(signature, 0, 32),
      slice(signature, 32, 64),
    ],
  })
})

test('events, Transfer: signature hash, padded sender and recipient, the amount as data', async () => {
  const { payment } = await draftAndSign()
  const { from } = payment.message

  const { logs } = await capture(payment)
  expect(logs[1]).toMatchObject({
    topics: [
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      pad(from),
      pad(to),
    ],
    data: toHex(12_500_000n, { size: 32 }),
  })
})

test('events, Transfer: the payer can be derived from it', async () => {
  const { payer, payment } = await draftAndSign()

  const { logs } = await capture(payment)
  const sender = slice(logs[1]?.topics[1] ?? '0x', 12)
  expect(isAddressEqual(sender, payer.account.address)).toBe(true)
})

test('events, AuthorizationUsed: identifies payer and nonce', async () => {
  const { payment } = await draftAndSign()
  const { from, nonce } = payment.message

  const { logs } = await capture(payment)
  expect(logs[0]).toMatchObject({
    topics: [
      '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
      pad(from),
      nonce,
    ],
    data: '0x',
  })
})

test('events, AuthorizationCanceled: identifies payer and nonce', async () => {
  const { payer, payment } = await draftAndSign()
  const { from, nonce } = payment.message

  const { logs } = await cancel(payer, payment)
  expect(logs[0]).toMatchObject({
    topics: [
      '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
      pad(from),
      nonce,
    ],
    data: '0x',
  })
})

test('errors, capture after the nonce was canceled: the mined transaction reverts', async () => {
  const { payer, payment } = await draftAndSign()
  const { transactionHash } = await cancel(payer, payment)

  const hash = await sendUnchecked(payment)
  const { status } = await receiptOf(hash)
  expect(status).toBe('reverted')
  expect(await waitForOutcome(client, { payment, hash })).toMatchObject({
    status: 'canceled',
    transactionHash,
  })
})

test('errors, capture when the payer moved funds: settlement does not succeed', async () => {
  const { payer, payment } = await draftAndSign()
  await moveFunds(payer)

  await expect(capturePayment(merchant, { payment })).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    reason: 'insufficientFunds',
  })
  expect(await stateOf(payment)).toBe(false)
})

test.each([
  ['paused', () => chain.pause(), () => chain.pause(false)],
  [
    'recipientBlocked',
    () => chain.block({ account: to }),
    () => chain.block({ account: to, blocked: false }),
  ],
])(
  'errors, capture when token policy blocks the transfer: %s',
  async (reason, block, allow) => {
    const { payment } = await draftAndSign()
    await block()

    const refused = capturePayment(merchant, { payment })
    await expect(refused).rejects.toMatchObject({ reason })
    const mined = await mine(merchant, captureCall({ payment }))
    await allow()
    expect(mined).not.toBe('success')
    expect(await stateOf(payment)).toBe(false)
  },
)

test('limits, authorization validity: from 60 seconds before to 15 minutes after', () => {
  const { message } = buildPayment({ ...sample, now: 5_000n })

  expect(message.validBefore - 5_000n).toBe(15n * 60n)
  expect(5_000n - message.validAfter).toBe(60n)
})

test.each([31, 33])('limits, nonce size: %d bytes are refused', (bytes) => {
  expect(() =>
    buildPayment({ ...sample, nonce: pad('0x1', { size: bytes }) }),
  ).toThrow(/^payment\.message\.nonce /)
})

test('limits, amount scale: a seventh fraction digit is refused, not rounded', () => {
  expect(parseAmount('0.000001')).toBe(1n)
  expect(() => parseAmount('0.0000015')).toThrow(InvalidAmountError)
})

test('limits, topics per log: at most 4', async () => {
  const { payment } = await draftAndSign()

  const { logs } = await capture(payment)
  expect(logs.map(({ topics }) => topics.length)).toEqual([3, 3])
})
