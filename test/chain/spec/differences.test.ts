import {
  buildPayment,
  captureCall,
  capturePayment,
  explainSignature,
  getPaymentOutcome,
  getToken,
  InvalidAmountError,
  InvalidFieldError,
  paymentTypedData,
  preparePayment,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import {
  deployDevContract,
  deployDevToken,
  devContracts,
} from 'countersign/devchain'
import { setNextBlockTimestamp } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  balanceOf,
  cancel,
  capture,
  chain,
  client,
  draft,
  draftAndSign,
  expected,
  freshPayer,
  merchant,
  mine,
  mineAt,
  node,
  nonce,
  now,
  payer,
  read,
  receiptOf,
  relayer,
  sample,
  sendUnchecked,
  sign,
  stateOf,
  to,
  usdc,
} from '../support/specChain.js'

test('difference, capture pair: a Transfer signature sent to receiveWithAuthorization reverts', async () => {
  const { payment } = await draftAndSign({
    primaryType: 'TransferWithAuthorization',
  })
  const specPair = {
    ...payment,
    primaryType: 'ReceiveWithAuthorization',
  } as const

  expect(await mine(merchant, captureCall({ payment: specPair }))).toBe(
    'FiatTokenV2: invalid signature',
  )
  await expect(
    capturePayment(merchant, { payment: specPair }),
  ).rejects.toMatchObject({ reason: 'wrongSigner' })
  expect(await explainSignature({ payment: specPair })).toEqual({
    found: true,
    differences: [
      {
        field: 'primaryType',
        signed: 'TransferWithAuthorization',
        presented: 'ReceiveWithAuthorization',
      },
    ],
  })
})

test('difference, capture pair: the default message is the one receiveWithAuthorization takes', async () => {
  const { payment } = await draftAndSign()

  expect(payment.primaryType).toBe('ReceiveWithAuthorization')
  expect(await mine(merchant, captureCall({ payment }))).toBe('success')
})

test('difference, capture pair: TransferWithAuthorization is built to the letter', () => {
  const primaryType = 'TransferWithAuthorization'
  const payment = buildPayment({ ...sample, primaryType, now: 1_000n, nonce })

  expect(paymentTypedData(payment)).toMatchObject({
    primaryType: 'TransferWithAuthorization',
    domain: usdc,
    message: {
      from: payer,
      to,
      value: '12500000',
      validAfter: '940',
      validBefore: '1900',
      nonce,
    },
  })
})

test('difference, capture pair: anyone can submit a TransferWithAuthorization, and the recipient is paid', async () => {
  const { payment } = await draftAndSign({
    primaryType: 'TransferWithAuthorization',
  })
  const submitter = relayer.account.address.toLowerCase()

  const hash = await capturePayment(relayer, { payment })
  const outcome = await waitForOutcome(client, { payment, hash })
  expect(outcome).toMatchObject({ status: 'captured', proof: { submitter } })
})

test('difference, capture pair: a merchant who names no type takes Receive only', async () => {
  const { payment } = await draftAndSign({
    primaryType: 'TransferWithAuthorization',
  })
  const { primaryType } = payment

  expect(
    await verifyPayment(client, { payment, expect: expected }),
  ).toMatchObject({ ok: false, reason: 'wrongPrimaryType' })
  const willing = { ...expected, primaryType }
  expect(
    await verifyPayment(client, { payment, expect: willing }),
  ).toMatchObject({ ok: true })
})

test('difference, domain: a token without version() is proven by its separator', async () => {
  const paxos = await deployDevContract(chain, {
    contract: devContracts.paxosToken,
    args: ['PayPal USD', 'PYUSD', 6],
  })

  await expect(read('version', paxos)).rejects.toThrow('reverted')
  const { domain } = await getToken(client, { token: paxos })
  expect(domain).toMatchObject({ name: 'PayPal USD', version: '1' })
})

test('difference, amount scale: the decimals of the token, where it has others than 6', async () => {
  const other = await deployDevToken(chain, { decimals: 18 })
  const { payment } = await draft({ token: other })

  expect(payment.message.value).toBe(12_500_000_000_000_000_000n)
})

test('difference, replay key: a nonce is unique for one payer on one token, so two tokens settle it twice', async () => {
  const other = await deployDevToken(chain)
  const { payer, payment: first } = await draftAndSign()
  const { from, nonce } = first.message
  await chain.mint({ to: from, value: 100_000_000n, token: other })
  const second = await preparePayment(client, {
    ...expected,
    token: other,
    from,
    nonce,
  })

  await capture(first)
  await capture(await sign(payer, second))
  expect(await Promise.all([first, second].map(stateOf))).toEqual([true, true])
  expect(await balanceOf(from, other)).toBe(87_500_000n)
})

test('difference, replay key: one payer and nonce sign two messages, and only one settles', async () => {
  const { payer, payment } = await draftAndSign()
  const { from, nonce } = payment.message
  const cheap = await sign(
    payer,
    await preparePayment(client, { ...expected, amount: '0.01', from, nonce }),
  )

  const { transactionHash } = await capture(cheap)
  expect(await getPaymentOutcome(client, { payment })).toMatchObject({
    status: 'consumed',
    transactionHash,
  })
})

test('difference, replay key: a nonce spent on a payment to somebody else pays nobody here', async () => {
  const { payer, payment } = await draftAndSign()
  const { from, nonce } = payment.message
  const other = relayer.account.address
  const diverted = await sign(
    payer,
    await preparePayment(client, { ...expected, to: other, from, nonce }),
  )

  const hash = await capturePayment(relayer, { payment: diverted })
  await receiptOf(hash)
  expect(await getPaymentOutcome(client, { payment, hash })).toMatchObject({
    status: 'consumed',
    transactionHash: hash,
  })
})

test('difference, chain time: the window counts from the newest block, not from the wall clock', async () => {
  await chain.warp(10_000n)
  const time = await now()
  const { payment } = await draft()

  const { validAfter, validBefore } = payment.message
  const wall = BigInt(Math.floor(Date.now() / 1000))
  expect(validAfter).toBeGreaterThan(wall + 900n)
  expect(validBefore - validAfter).toBe(960n)
  expect(validAfter - time).toBeLessThan(-50n)
})

test('difference, window: both bounds are exclusive', async () => {
  const { payment } = await draftAndSign({ validAfter: (await now()) + 500n })
  const { validAfter } = payment.message
  const call = captureCall({ payment })

  await setNextBlockTimestamp(node, { timestamp: validAfter })
  expect(await mine(merchant, call)).toBe(
    'FiatTokenV2: authorization is not yet valid',
  )
  await setNextBlockTimestamp(node, { timestamp: validAfter + 1n })
  expect(await mine(merchant, call)).toBe('success')
})

test('difference, window: at validBefore itself it is over', async () => {
  const { payment } = await draftAndSign()
  const { validBefore } = payment.message

  await setNextBlockTimestamp(node, { timestamp: validBefore })
  expect(await mine(merchant, captureCall({ payment }))).toBe(
    'FiatTokenV2: authorization is expired',
  )
})

test('difference, window: one in which no second lies is not built', () => {
  const build = (validBefore: bigint) =>
    buildPayment({ ...sample, validAfter: 100n, validBefore })

  expect(() => build(101n)).toThrow(InvalidFieldError)
  expect(build(102n).message).toMatchObject({
    validAfter: 100n,
    validBefore: 102n,
  })
})

test('difference, cancellation: the token accepts it after expiry too', async () => {
  const { payer, payment } = await draftAndSign()
  await mineAt(payment.message.validBefore + 1n)

  const { transactionHash: hash } = await cancel(payer, payment)
  expect(await waitForOutcome(client, { payment, hash })).toMatchObject({
    status: 'canceled',
  })
})

test('difference, proof: a successful transaction alone is no payment', async () => {
  const { payment, hash } = await spentOnPaxos()

  const { status } = await receiptOf(hash)
  expect(status).toBe('success')
  expect(await getPaymentOutcome(client, { payment, hash })).toMatchObject({
    status: 'canceled',
  })
})

test.each([
  ['zero', { amount: '0' }, InvalidAmountError],
  ['a negative amount', { amount: '-1' }, InvalidAmountError],
  ['a payment to oneself', { to: payer }, InvalidFieldError],
] as const)(
  'difference, checks: %s, which tokens accept or cannot mean, is refused',
  (_, changes, error) => {
    expect(() => buildPayment({ ...sample, ...changes })).toThrow(error)
  },
)

/** A cancellation, then a capture, of one nonce on a token that never says no. */
async function spentOnPaxos() {
  const contract = devContracts.paxosToken
  const args = ['PayPal USD', 'PYUSD', 6]
  const paxos = await deployDevContract(chain, { contract, args })
  const payer = await freshPayer()
  const from = payer.account.address
  const payment = await sign(
    payer,
    await preparePayment(client, { ...expected, token: paxos, from }),
  )
  await relayer.writeContract({
    address: paxos,
    abi: contract.abi,
    functionName: 'mint',
    args: [payment.message.from, 100_000_000n],
  })
  await cancel(payer, payment)
  return { payment, hash: await sendUnchecked(payment) }
}
