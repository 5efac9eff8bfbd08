import { checkout, checkoutCall } from 'countersign/checkout'
import { formatUnits } from 'viem'
import { expect, test } from 'vitest'
import { rehearsePayments } from '../../../src/payments/verify/rehearsePayments.js'
import {
  client,
  fundedPayer,
  newAddress,
  send,
  signedCheckout,
} from '../support/checkoutDesk.js'

/** Two ceilings of 50 tokens of a payer with 60, to one recipient. */
async function twoCeilings() {
  const payer = await fundedPayer(60_000_000n)
  const to = newAddress()
  return [
    await signedCheckout(payer, { to }),
    await signedCheckout(payer, { to }),
  ]
}

type Payments = Awaited<ReturnType<typeof twoCeilings>>

async function rehearse(payments: Payments, amount: bigint) {
  const { rehearsals } = await rehearsePayments(client, {
    payments,
    kind: checkout,
    amounts: payments.map(() => amount),
  })
  return rehearsals.map((one) => (one.ok ? 'ok' : one.reason))
}

/** Captures one after the other. */
async function capture(payments: Payments, amount: bigint) {
  const statuses: string[] = []
  for (const payment of payments) {
    const { operator } = payment.checkout
    const call = checkoutCall({ payment, amount: formatUnits(amount, 6) })
    const { status } = await send(operator, call)
    statuses.push(status)
  }
  return statuses
}

test('of two ceilings the second passes if the payer still has all of it after the first capture', async () => {
  const payments = await twoCeilings()
  expect(await rehearse(payments, 10_000_000n)).toEqual(['ok', 'ok'])
  expect(await capture(payments, 10_000_000n)).toEqual(['success', 'success'])
})

test('of two ceilings the second is refused if the payer has less than it after the first capture, though enough for both amounts', async () => {
  const payments = await twoCeilings()
  const reasons = ['ok', 'insufficientFunds']
  expect(await rehearse(payments, 10_000_001n)).toEqual(reasons)
  expect(await rehearse(payments, 20_000_000n)).toEqual(reasons)
  expect(await capture(payments, 20_000_000n)).toEqual(['success', 'reverted'])
})
