/**
 * A merchant captures a payment and waits for the proof.
 *
 *     npx tsx examples/3-capture.ts
 */
import {
  CaptureRejectedError,
  capturePayment,
  formatAmount,
  preparePayment,
  signPayment,
  waitForOutcome,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'

const chain = await startDevChain()
const { payer, merchant, relayer, public: reader } = chain.clients

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

  // Only the recipient can submit a ReceiveWithAuthorization.
  await capturePayment(relayer, { payment }).catch(printRejection)

  // A hash is not a settlement: the receipt has to prove it.
  const hash = await capturePayment(merchant, { payment })
  const outcome = await waitForOutcome(reader, {
    payment,
    hash,
    finality: 'safe',
  })
  if (outcome.status !== 'captured') throw new Error(outcome.status)
  const { blockNumber, logIndex, gasUsed, finality } = outcome.proof
  console.log(`Captured ${formatAmount(payment.message.value)} USDC:`)
  console.log(`  transaction ${hash}`)
  console.log(`  block ${blockNumber}, log ${logIndex}, ${finality}`)
  console.log(`  ${gasUsed} gas, paid by the merchant`)

  // The nonce is spent: a second capture is refused before it costs anything.
  await capturePayment(merchant, { payment }).catch(printRejection)
} finally {
  await chain.stop()
}

function printRejection(error: unknown): void {
  if (!(error instanceof CaptureRejectedError)) throw error
  console.log(error.message)
}
