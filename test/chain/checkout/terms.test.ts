import {
  checkoutAbi,
  checkoutAddress,
  checkoutCall,
} from 'countersign/checkout'
import { deployDevContract } from 'countersign/devchain'
import { zeroHash } from 'viem'
import { expect, test } from 'vitest'
import { checkoutCode } from '../../../src/checkout/contracts/Checkout.generated.js'
import {
  attemptOf,
  balanceOf,
  cancel,
  chain,
  chainTime,
  fundedPayer,
  instructionsOf,
  newAddress,
  refusalOf,
  send,
  signedCheckout,
  type Terms,
  usdc,
} from '../support/checkoutDesk.js'

const invalid = 'FiatTokenV2: invalid signature'

test('a capture pays the amount, returns the rest and keeps nothing', async () => {
  const payer = await fundedPayer()
  const payment = await signedCheckout(payer)
  const { recipient, operator } = payment.checkout
  await chain.mint({ to: checkoutAddress, value: 7n })
  const call = checkoutCall({ payment, amount: '42.10' })
  const receipt = await send(operator, call)
  expect(receipt.status).toBe('success')
  expect(await balanceOf(recipient)).toBe(42_100_000n)
  expect(await balanceOf(payer.address)).toBe(57_900_000n)
  expect(await balanceOf(checkoutAddress)).toBe(7n)
})

test('a capture of the whole ceiling makes two transfers', async () => {
  const payment = await signedCheckout(await fundedPayer())
  const call = checkoutCall({ payment, amount: '50' })
  const { logs } = await send(payment.checkout.operator, call)
  // AuthorizationUsed, two transfers, and Captured.
  expect(logs.map(({ address }) => address)).toEqual([
    usdc.toLowerCase(),
    usdc.toLowerCase(),
    usdc.toLowerCase(),
    checkoutAddress,
  ])
})

test('a second capture is refused, for any amount', async () => {
  const payment = await signedCheckout(await fundedPayer())
  const { operator } = payment.checkout
  await send(operator, checkoutCall({ payment, amount: '1' }))
  for (const amount of [1n, 1_000_000n, 50_000_000n])
    expect(await refusalOf(attemptOf(payment, amount))).toBe(
      'FiatTokenV2: authorization is used or canceled',
    )
})

test.each([0n, 50_000_001n, 2n ** 256n - 1n])(
  'an amount of %s units is refused under a ceiling of 50 tokens',
  async (amount) => {
    const payment = await signedCheckout(await fundedPayer())
    expect(await refusalOf(attemptOf(payment, amount))).toMatch(/the amount is/)
  },
)

test('a stranger, the payer and a recipient who is not the operator are refused', async () => {
  const payer = await fundedPayer()
  const operator = newAddress()
  const payment = await signedCheckout(payer, { operator })
  const attempt = attemptOf(payment, 1n)
  expect(await refusalOf(attempt)).toBe('accepted')
  const others = [payer.address, payment.checkout.recipient, newAddress()]
  for (const from of others)
    expect(await refusalOf({ ...attempt, from })).toMatch(/not the operator/)
})

const otherTerms: readonly (readonly [string, Partial<Terms>])[] = [
  ['recipient', { recipient: newAddress() }],
  ['ceiling', { ceiling: 50_000_001n }],
  ['lower ceiling', { ceiling: 49_999_999n }],
  ['salt', { salt: zeroHash }],
  ['validAfter', { validAfter: 0n }],
  ['validBefore', { validBefore: 2n ** 40n }],
]

test.each(otherTerms)(
  'terms with another %s are refused by the token',
  async (_, changed) => {
    const payment = await signedCheckout(await fundedPayer())
    const attempt = attemptOf(payment, 1n)
    const terms = { ...attempt.terms, ...changed }
    expect(await refusalOf({ ...attempt, terms })).toBe(invalid)
  },
)

test('an operator who puts itself into the terms is refused by the token', async () => {
  const payment = await signedCheckout(await fundedPayer())
  const attempt = attemptOf(payment, 1n)
  const operator = newAddress()
  const terms = { ...attempt.terms, operator }
  expect(await refusalOf({ ...attempt, terms, from: operator })).toBe(invalid)
})

test('another payer and another token are refused', async () => {
  const attempt = attemptOf(await signedCheckout(await fundedPayer()), 1n)
  const payer = (await fundedPayer()).address
  const terms = { ...attempt.terms, payer }
  expect(await refusalOf({ ...attempt, terms })).toBe(invalid)
  const token = newAddress()
  const elsewhere = { ...attempt.terms, token }
  expect(await refusalOf({ ...attempt, terms: elsewhere })).toMatch(
    /the token has no code/,
  )
})

test('a signature for another chain or another contract is refused', async () => {
  const payer = await fundedPayer()
  const payment = await signedCheckout(payer, {
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 1,
      verifyingContract: usdc,
    },
  })
  expect(await refusalOf(attemptOf(payment, 1n))).toBe(invalid)
  // The nonce would be right for a contract at another address only.
  const moved = attemptOf(await signedCheckout(payer), 1n)
  const other = await deployDevContract(chain, {
    contract: { abi: checkoutAbi, bytecode: checkoutCode },
  })
  expect(await refusalOf(moved, other)).toBe(invalid)
})

test.each([
  [0n, 'reverted'],
  [1n, 'success'],
  [9n, 'success'],
  [10n, 'reverted'],
])(
  '%s seconds into a window of ten, a capture is a %s',
  async (seconds, status) => {
    const payer = await fundedPayer()
    const validAfter = (await chainTime()) + 1000n
    const payment = await signedCheckout(payer, {
      validAfter,
      validBefore: validAfter + 10n,
    })
    const call = checkoutCall({ payment, amount: '1' })
    const { operator } = payment.checkout
    const receipt = await send(operator, call, validAfter + seconds)
    expect(receipt.status).toBe(status)
  },
)

test("a payer's cancellation at the token ends the payment", async () => {
  const payer = await fundedPayer()
  const payment = await signedCheckout(payer)
  await cancel(payer, payment)
  expect(await refusalOf(attemptOf(payment, 1n))).toMatch(/used or canceled/)
})

test('a payer with less than the ceiling cannot pay even a small amount', async () => {
  const payment = await signedCheckout(await fundedPayer(49_999_999n))
  expect(await refusalOf(attemptOf(payment, 1n))).toMatch(/exceeds balance/)
})

test('a paused token and a blocked recipient refuse the capture', async () => {
  const payment = await signedCheckout(await fundedPayer())
  await chain.pause(true)
  expect(await refusalOf(attemptOf(payment, 1n))).toMatch(/paused/)
  await chain.pause(false)
  await chain.block({ account: payment.checkout.recipient })
  expect(await refusalOf(attemptOf(payment, 1n))).toMatch(/blacklisted/)
})

test('the contract has no instruction that could move its code or its tokens', async () => {
  expect(await instructionsOf(checkoutAddress)).toEqual(new Set(['call']))
})
