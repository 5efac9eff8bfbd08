import { buildPayment, captureCall } from 'countersign'
import { checkoutCall } from 'countersign/checkout'
import { expect, test } from 'vitest'
import {
  chain,
  chainTime,
  domain,
  fundedPayer,
  merchant,
  send,
  signedCheckout,
} from '../support/checkoutDesk.js'
import {
  permitAttempt,
  permitPayer,
  sendPermitCapture,
  signedPermit,
  recipient as to,
} from '../support/permitDesk.js'
import { sign } from '../support/signing.js'

/**
 * `permitTransferFrom` of Permit2 on the same token, measured with its own
 * bytecode, which is not installed here.
 */
const permit2 = 105_936

const operator = merchant.account.address
await chain.mint({ to, value: 1n })

async function plainReceive(): Promise<number> {
  const payer = await fundedPayer()
  const payment = buildPayment({
    domain,
    from: payer.address,
    to,
    amount: '42.10',
    now: await chainTime(),
  })
  const signed = { ...payment, signature: await sign(payer, payment) }
  const { gasUsed } = await send(operator, captureCall({ payment: signed }))
  return Number(gasUsed)
}

async function checkoutOf(amount: string): Promise<number> {
  const payment = await signedCheckout(await fundedPayer(), { to })
  const { gasUsed } = await send(operator, checkoutCall({ payment, amount }))
  return Number(gasUsed)
}

async function permitOf(amount: bigint): Promise<number> {
  const payment = await signedPermit(await permitPayer())
  const attempt = permitAttempt(payment, amount)
  return Number((await sendPermitCapture(attempt)).gasUsed)
}

test('a checkout costs little more than a plain capture', async () => {
  await plainReceive()
  await permitOf(1n)
  const gas = {
    plainReceive: await plainReceive(),
    permit2,
    checkoutOfPart: await checkoutOf('42.10'),
    checkoutOfAll: await checkoutOf('50'),
    permitCheckoutFirst: await permitOf(42_100_000n),
  }
  // Ceilings a little above what was measured: a dearer contract is a change.
  process.stdout.write(`gas ${JSON.stringify(gas)}\n`)
  expect(gas.checkoutOfPart).toBeLessThan(130_000)
  expect(gas.checkoutOfAll).toBeLessThan(120_000)
  expect(gas.permitCheckoutFirst).toBeLessThan(150_000)
})
