/**
 * A payer takes a payment back before it is captured. Anyone may submit the
 * cancellation; here a relayer pays the gas.
 *
 *     npx tsx examples/4-cancel.ts
 */
import {
  buildCancellation,
  CaptureRejectedError,
  cancelPayment,
  capturePayment,
  preparePayment,
  signCancellation,
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

  // The signature alone changes nothing: the chain has to see it in time.
  const cancellation = await signCancellation(payer, {
    cancellation: buildCancellation({ payment }),
    expect: { chainId: chain.chain.id, token, nonce: payment.message.nonce },
  })
  const hash = await cancelPayment(relayer, { cancellation })

  // A capture may have won the race, so ask for the outcome.
  const outcome = await waitForOutcome(reader, { payment, hash })
  if (outcome.status !== 'canceled') throw new Error(outcome.status)
  console.log(`The payment is ${outcome.status}:`)
  console.log(`  transaction ${outcome.transactionHash}`)
  console.log(`  block ${outcome.blockNumber}, sent by the relayer`)

  await capturePayment(merchant, { payment }).catch((error: unknown) => {
    if (!(error instanceof CaptureRejectedError)) throw error
    console.log(error.message)
  })
} finally {
  await chain.stop()
}
