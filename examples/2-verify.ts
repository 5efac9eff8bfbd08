/**
 * A merchant judges signed payments before shipping anything. A refusal is a
 * value with a reason, not an exception.
 *
 *     npx tsx examples/2-verify.ts
 */
import {
  type PaymentVerdict,
  preparePayment,
  signPayment,
  verifyPayment,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'

const chain = await startDevChain()
const { payer, merchant, public: reader } = chain.clients

try {
  const { token } = chain
  const order = { token, to: merchant.account.address, amount: '12.50' }
  const payment = await signPayment(payer, {
    payment: await preparePayment(reader, {
      ...order,
      from: payer.account.address,
    }),
    expect: { ...order, chainId: chain.chain.id },
  })

  // The token's own code judges, in one request and without a transaction.
  const verdict = await verifyPayment(reader, { payment, expect: order })
  print('as signed', verdict)

  const higher = { ...order, amount: '99.00' }
  print(
    'for an order of 99.00',
    await verifyPayment(reader, { payment, expect: higher }),
  )

  const message = { ...payment.message, value: 99_000_000n }
  print(
    'with the value raised to match',
    await verifyPayment(reader, {
      payment: { ...payment, message },
      expect: higher,
    }),
  )

  await chain.block({ account: payer.account.address })
  print(
    'with the payer on the block list',
    await verifyPayment(reader, { payment, expect: order }),
  )
} finally {
  await chain.stop()
}

function print(what: string, verdict: PaymentVerdict): void {
  const told = verdict.ok ? `ok at block ${verdict.at.block}` : verdict.reason
  console.log(`${what.padEnd(34)}${told}`)
}
