import { getPaymentOutcome, verifyPayment } from 'countersign'
import { checkout, checkoutAddress, checkoutCall } from 'countersign/checkout'
import { deployDevContract } from 'countersign/devchain'
import { type Address, encodeFunctionData, hexToString, isHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { readContract } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  attemptOf,
  balanceOf,
  chain,
  client,
  fundedPayer,
  refusalOf,
  send,
  signedCheckout,
} from '../support/checkoutDesk.js'
import { compileOddToken, type Oddity, oddities } from '../support/oddTokens.js'

const odd = compileOddToken()

/** A payer with 100 odd tokens, and a payment of at most 50 of them. */
async function oddPayment(oddity: Oddity) {
  const token = await deployDevContract(chain, {
    contract: odd,
    args: [oddities.indexOf(oddity)],
  })
  const payer = await fundedPayer()
  await give(token, payer.address, 100_000_000n)
  return { token, payer, payment: await payment(token, payer) }
}

function payment(token: Address, payer: PrivateKeyAccount) {
  return signedCheckout(payer, {
    domain: {
      name: 'Odd',
      version: '1',
      chainId: 31337,
      verifyingContract: token,
    },
  })
}

async function give(token: Address, to: Address, value: bigint) {
  await callOdd(token, 'mint', [to, value])
}

async function callOdd(
  token: Address,
  functionName: string,
  args: readonly unknown[],
) {
  const data = encodeFunctionData({ abi: odd.abi, functionName, args })
  await send(chain.clients.relayer.account.address, { to: token, data })
}

test.each(['behaves', 'returns nothing from transfers'] as const)(
  'a token that %s is paid with',
  async (oddity) => {
    const { token, payer, payment } = await oddPayment(oddity)
    const { operator, recipient } = payment.checkout
    await send(operator, checkoutCall({ payment, amount: '42.10' }))
    expect(await balanceOf(recipient, token)).toBe(42_100_000n)
    expect(await balanceOf(payer.address, token)).toBe(57_900_000n)
  },
)

const refused: readonly (readonly [Oddity, RegExp])[] = [
  ['returns false from transfers', /the token returned false/],
  ['returns false from receiveWithAuthorization', /the token returned false/],
  ['takes a fee of every transfer', /the ceiling did not arrive/],
  ['succeeds without a transfer', /the ceiling did not arrive/],
]

test.each(refused)(
  'a token that %s is refused by the contract and by the rehearsal',
  async (oddity, reason) => {
    const { token, payment } = await oddPayment(oddity)
    expect(await refusalOf(attemptOf(payment, 1n))).toMatch(reason)
    const verdict = await verifyPayment(client, {
      payment,
      kind: checkout,
      expect: { token, to: payment.checkout.recipient, atMost: '50.00' },
    })
    expect(verdict).toMatchObject({ ok: false, reason: 'simulationFailed' })
  },
)

test('a token that takes a fee from contracts is refused by the rehearsal', async () => {
  const { token, payment } = await oddPayment(
    'takes a fee of transfers from contracts only',
  )
  const { recipient: to, operator } = payment.checkout
  const verdict = await verifyPayment(client, {
    payment,
    kind: checkout,
    expect: { token, to, atMost: '50.00' },
  })
  expect(verdict).toMatchObject({
    ok: false,
    reason: 'simulationFailed',
    details: {
      words: 'the recipient would not receive exactly the signed value',
    },
  })
  // Captured all the same, the order was not paid.
  const receipt = await send(operator, checkoutCall({ payment, amount: '5' }))
  const outcome = await getPaymentOutcome(client, {
    payment,
    kind: checkout,
    hash: receipt.transactionHash,
  })
  expect(outcome).toMatchObject({ status: 'consumed' })
})

test('tokens that somebody left at the contract do not pay for a used nonce', async () => {
  const { token, payment } = await oddPayment('behaves')
  await give(token, checkoutAddress, 1_000_000_000n)
  await send(payment.checkout.operator, checkoutCall({ payment, amount: '1' }))
  // This token, like PYUSD, returns without a transfer the second time.
  expect(await refusalOf(attemptOf(payment, 1n))).toMatch(
    /the ceiling did not arrive/,
  )
  expect(await balanceOf(checkoutAddress, token)).toBe(1_000_000_000n)
})

test('tokens that somebody left at the contract pay no fee', async () => {
  const { token, payment } = await oddPayment(
    'takes more than the value from contracts',
  )
  await give(token, checkoutAddress, 1_000n)
  expect(await refusalOf(attemptOf(payment, 1n))).toMatch(/the balance changed/)
  expect(await balanceOf(checkoutAddress, token)).toBe(1_000n)
})

test('a short delivery that the token hides behind its events is refused', async () => {
  const { payment } = await oddPayment(
    'delivers less, and says it delivered all',
  )
  expect(await refusalOf(attemptOf(payment, 1n))).toMatch(
    /the ceiling did not arrive/,
  )
})

test('a token that calls the same capture again inside it captures once', async () => {
  const { token, payer } = await oddPayment('calls its recipient back')
  const { domain } = await payment(token, payer)
  // The token is the operator, so its own call comes from the right account.
  const own = await signedCheckout(payer, { domain, operator: token })
  const call = checkoutCall({ payment: own, amount: '10' })
  await callOdd(token, 'setCall', [checkoutAddress, call.data])
  const receipt = await send(token, call)
  expect(receipt.status).toBe('success')
  expect(await answerTo(token)).toMatch(/the ceiling did not arrive/)
  expect(await balanceOf(payer.address, token)).toBe(90_000_000n)
  expect(await balanceOf(own.checkout.recipient, token)).toBe(10_000_000n)
  expect(await balanceOf(checkoutAddress, token)).toBe(0n)
})

test('a capture inside another capture leaves both right', async () => {
  const {
    token,
    payer,
    payment: outer,
  } = await oddPayment('calls its recipient back')
  const { domain } = outer
  const inner = await signedCheckout(payer, { domain, operator: token })
  const nested = checkoutCall({ payment: inner, amount: '7' })
  await callOdd(token, 'setCall', [checkoutAddress, nested.data])
  const call = checkoutCall({ payment: outer, amount: '10' })
  await send(outer.checkout.operator, call)
  expect(await answerTo(token)).toBe('accepted')
  expect(await balanceOf(outer.checkout.recipient, token)).toBe(10_000_000n)
  expect(await balanceOf(inner.checkout.recipient, token)).toBe(7_000_000n)
  expect(await balanceOf(payer.address, token)).toBe(83_000_000n)
  expect(await balanceOf(checkoutAddress, token)).toBe(0n)
})

/** What the token got when it called in the middle of a transfer. */
async function answerTo(token: Address): Promise<string> {
  const answer = await readContract(client, {
    address: token,
    abi: odd.abi,
    functionName: 'answer',
  })
  return isHex(answer) ? hexToString(answer) : ''
}
