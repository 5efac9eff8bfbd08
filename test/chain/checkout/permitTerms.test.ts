import {
  permitCheckoutAddress,
  permitCheckoutDeployment,
} from 'countersign/checkout'
import { deployDevContract } from 'countersign/devchain'
import { encodeFunctionData } from 'viem'
import { expect, test } from 'vitest'
import {
  balanceOf,
  chain,
  chainTime,
  client,
  instructionsOf,
  newAddress,
  send,
} from '../support/checkoutDesk.js'
import { compileOddToken, type Oddity, oddities } from '../support/oddTokens.js'
import {
  allowanceOf,
  domain,
  nonceOf,
  permitAttempt,
  permitPayer,
  permitRefusal,
  recipient,
  sendPermitCapture,
  signedPermit,
  spender,
  submitPermit,
  token,
  tokenAbi,
} from '../support/permitDesk.js'

const used = /the permit (nonce )?is used/
const invalid = 'Checkout: invalid signature'

test('a capture takes the amount from the payer, and keeps nothing', async () => {
  const payer = await permitPayer()
  const before = await balanceOf(recipient, token)
  const payment = await signedPermit(payer)
  const { status } = await sendPermitCapture(
    permitAttempt(payment, 42_100_000n),
  )
  expect(status).toBe('success')
  expect((await balanceOf(recipient, token)) - before).toBe(42_100_000n)
  expect(await balanceOf(payer.address, token)).toBe(57_900_000n)
  expect(await balanceOf(spender, token)).toBe(0n)
})

test('a second capture is refused, although an allowance is left', async () => {
  const payer = await permitPayer()
  const payment = await signedPermit(payer)
  await sendPermitCapture(permitAttempt(payment, 42_000_000n))
  expect(await allowanceOf(payer.address)).toBe(8_000_000n)
  expect(await permitRefusal(permitAttempt(payment, 1n))).toMatch(used)
})

test('a permit that somebody else submitted first is captured all the same', async () => {
  const payer = await permitPayer()
  const payment = await signedPermit(payer)
  expect(await submitPermit(payment)).toBe('success')
  const { status } = await sendPermitCapture(permitAttempt(payment, 1_000_000n))
  expect(status).toBe('success')
  expect(await balanceOf(payer.address, token)).toBe(99_000_000n)
})

test('an allowance without a valid signature is worth nothing', async () => {
  const payer = await permitPayer()
  const payment = await signedPermit(payer)
  await submitPermit(payment)
  const attempt = permitAttempt(payment, 1n)
  const other = await signedPermit(await permitPayer())
  const forged = { ...attempt, signature: other.signature }
  expect(await permitRefusal(forged)).toBe(invalid)
  const raised = {
    ...attempt,
    permit: { ...attempt.permit, ceiling: 60_000_000n },
  }
  expect(await permitRefusal(raised)).toBe(invalid)
})

test.each([0n, 50_000_001n])(
  'an amount of %s units is refused',
  async (amount) => {
    const payment = await signedPermit(await permitPayer())
    expect(await permitRefusal(permitAttempt(payment, amount))).toMatch(
      /the amount is/,
    )
  },
)

test('strangers and the payer are refused', async () => {
  const payer = await permitPayer()
  const attempt = permitAttempt(await signedPermit(payer), 1n)
  for (const from of [payer.address, newAddress()])
    expect(await permitRefusal({ ...attempt, from })).toMatch(
      /not the operator/,
    )
})

test('other ceilings, deadlines, nonces and payers are refused', async () => {
  const payer = await permitPayer()
  const attempt = permitAttempt(await signedPermit(payer), 1n)
  const { permit } = attempt
  const changes = [
    { ceiling: permit.ceiling - 1n },
    { deadline: permit.deadline + 1n },
    { nonce: permit.nonce + 1n },
    { payer: (await permitPayer()).address },
  ]
  for (const change of changes)
    expect(
      await permitRefusal({ ...attempt, permit: { ...permit, ...change } }),
    ).toBe(invalid)
})

test('the contract of another recipient or operator refuses the permit', async () => {
  const attempt = permitAttempt(await signedPermit(await permitPayer()), 1n)
  const operator = newAddress()
  for (const parameters of [
    { recipient: newAddress(), operator: recipient },
    { recipient, operator },
  ]) {
    await send(operator, permitCheckoutDeployment(parameters))
    const to = permitCheckoutAddress(parameters)
    const from = parameters.operator
    expect(await permitRefusal({ ...attempt, to, from })).toBe(invalid)
  }
})

test('a permit for another chain or token is refused', async () => {
  const payer = await permitPayer()
  const elsewhere = { ...domain, chainId: 1 }
  const payment = await signedPermit(payer, { domain: elsewhere })
  expect(await permitRefusal(permitAttempt(payment, 1n))).toBe(invalid)
  const attempt = permitAttempt(await signedPermit(payer), 1n)
  const permit = { ...attempt.permit, token: newAddress() }
  expect(await permitRefusal({ ...attempt, permit })).toMatch(/no code/)
})

test.each([
  [0n, 'success'],
  [1n, 'reverted'],
])(
  '%s seconds after the deadline, a capture is a %s',
  async (seconds, status) => {
    const deadline = (await chainTime()) + 1000n
    const payment = await signedPermit(await permitPayer(), {
      validBefore: deadline + 1n,
    })
    const attempt = permitAttempt(payment, 1n)
    expect(await sendPermitCapture(attempt, deadline + seconds)).toMatchObject({
      status,
    })
  },
)

test('the allowance of a permit submitted in time is worth nothing after its deadline', async () => {
  const deadline = (await chainTime()) + 1000n
  const payer = await permitPayer()
  const payment = await signedPermit(payer, { validBefore: deadline + 1n })
  await submitPermit(payment)
  const attempt = permitAttempt(payment, 1n)
  const { status } = await sendPermitCapture(attempt, deadline + 1n)
  expect(status).toBe('reverted')
  expect(await permitRefusal(attempt)).toMatch(/the permit is expired/)
})

test('of two carts at one permit nonce, one is captured', async () => {
  const payer = await permitPayer()
  const nonce = await nonceOf(payer.address)
  const first = await signedPermit(payer, { nonce, atMost: '50.00' })
  const second = await signedPermit(payer, { nonce, atMost: '30.00' })
  await sendPermitCapture(permitAttempt(first, 10_000_000n))
  // 40 tokens are still allowed, and the signature is right.
  expect(await permitRefusal(permitAttempt(second, 1n))).toMatch(used)
  expect(await balanceOf(payer.address, token)).toBe(90_000_000n)
})

test("a permit is worth nothing once the payer's later permit is on chain", async () => {
  const payer = await permitPayer()
  const early = await signedPermit(payer)
  const nonce = (await nonceOf(payer.address)) + 1n
  const late = await signedPermit(payer, { nonce })
  await submitPermit(early)
  await submitPermit(late)
  expect(await permitRefusal(permitAttempt(early, 1n))).toMatch(used)
  expect(await permitRefusal(permitAttempt(late, 1n))).toBe('accepted')
})

test('a permit of a nonce to come is refused, although an allowance is left', async () => {
  const payer = await permitPayer()
  await sendPermitCapture(permitAttempt(await signedPermit(payer), 1n))
  const nonce = (await nonceOf(payer.address)) + 1n
  const ahead = await signedPermit(payer, { nonce })
  expect(await permitRefusal(permitAttempt(ahead, 1n))).toMatch(
    /used or not the next/,
  )
})

test('an allowance that the payer gave by hand raises no ceiling', async () => {
  const payer = await permitPayer()
  const args = [spender, 2n ** 256n - 1n] as const
  const data = encodeFunctionData({
    abi: tokenAbi,
    functionName: 'approve',
    args,
  })
  await send(payer.address, { to: token, data })
  const payment = await signedPermit(payer)
  expect(await permitRefusal(permitAttempt(payment, 50_000_001n))).toMatch(
    /the amount is/,
  )
})

const odd = compileOddToken()

const refused: readonly (readonly [Oddity, string])[] = [
  ['returns false from transfers', 'Checkout: the token returned false'],
  ['pays who moves the tokens of others', 'Checkout: the balance changed'],
  ['takes a fee of every transfer', 'Checkout: the amount did not arrive'],
  ['succeeds without a transfer', 'Checkout: the amount did not arrive'],
  [
    'delivers less, and says it delivered all',
    'Checkout: the amount did not arrive',
  ],
  ['behaves', 'accepted'],
  ['returns nothing from transfers', 'accepted'],
]

test.each(refused)(
  'with a token that %s, a capture is: %s',
  async (oddity, words) => {
    const odds = await oddPermit(oddity)
    expect(await permitRefusal(permitAttempt(odds, 1n))).toBe(words)
  },
)

/** A permit of at most 50 odd tokens. */
async function oddPermit(oddity: Oddity) {
  const address = await deployDevContract(chain, {
    contract: odd,
    args: [oddities.indexOf(oddity)],
  })
  const payer = await permitPayer()
  const data = encodeFunctionData({
    abi: odd.abi,
    functionName: 'mint',
    args: [payer.address, 100_000_000n],
  })
  await send(newAddress(), { to: address, data })
  return signedPermit(payer, {
    domain: {
      name: 'Odd',
      version: '1',
      chainId: 31337,
      verifyingContract: address,
    },
  })
}

test('the contract has no instruction that could move its code', async () => {
  expect(await instructionsOf(spender)).toEqual(
    new Set(['call', 'sload', 'sstore']),
  )
  expect(await client.getStorageAt({ address: spender, slot: '0x0' })).toMatch(
    /^0x0+$/,
  )
})
