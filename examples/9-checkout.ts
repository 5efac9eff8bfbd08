/**
 * A total that is known later: the payer signs a ceiling, adds a tip after
 * that, and the merchant captures the sum, once.
 *
 *     npm run checkout
 */
import {
  buildCancellation,
  CaptureRejectedError,
  cancelPayment,
  capturePayment,
  formatAmount,
  signCancellation,
  signPayment,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import {
  checkout,
  checkoutDeployment,
  prepareCheckoutPayment,
  type SignedCheckoutPayment,
} from 'countersign/checkout'
import { startDevChain } from 'countersign/devchain'
import { sendTransaction, waitForTransactionReceipt } from 'viem/actions'

const chain = await startDevChain()
const { payer, merchant, relayer, public: reader } = chain.clients
const kind = checkout

try {
  // Each chain needs the contract once, from anyone, at one known address.
  const deployed = await sendTransaction(relayer, checkoutDeployment())
  await waitForTransactionReceipt(reader, { hash: deployed })

  const { token } = chain
  const terms = { token, to: merchant.account.address, atMost: '50.00' }
  const sign = async (): Promise<SignedCheckoutPayment> =>
    signPayment(payer, {
      kind,
      payment: await prepareCheckoutPayment(reader, {
        ...terms,
        from: payer.account.address,
      }),
      expect: { ...terms, chainId: chain.chain.id },
    })

  const meal = await sign()
  const verdict = await verifyPayment(reader, {
    payment: meal,
    kind,
    expect: terms,
  })
  console.log(`The payer signed a ceiling of 50.00: ${verdict.ok}.`)

  // 36.60 for the meal, and a tip that nobody knew when the payer signed.
  const amount = '42.10'
  const hash = await capturePayment(merchant, { payment: meal, kind, amount })
  const outcome = await waitForOutcome(reader, { payment: meal, kind, hash })
  if (outcome.status !== 'captured') throw new Error(outcome.status)
  const captured = formatAmount(outcome.proof.amount ?? 0n)
  console.log(`Captured ${captured} with the tip; 7.9 went back.`)

  const explain = (error: unknown) => {
    if (!(error instanceof CaptureRejectedError)) throw error
    console.log(`  ${error.message}`)
  }
  console.log('A second capture, of what is left:')
  const rest = { payment: meal, kind, amount: '7.90' }
  await capturePayment(merchant, rest).catch(explain)

  console.log('More than the ceiling of another payment:')
  const taxi = await sign()
  const more = { payment: taxi, kind, amount: '50.01' }
  await capturePayment(merchant, more).catch(explain)

  const cancellation = await signCancellation(payer, {
    cancellation: buildCancellation({ payment: taxi, kind }),
    expect: { chainId: chain.chain.id, token },
  })
  const canceled = await cancelPayment(relayer, { cancellation })
  await waitForOutcome(reader, { payment: taxi, kind, hash: canceled })
  console.log('After the payer canceled it:')
  const fare = { payment: taxi, kind, amount: '1.00' }
  await capturePayment(merchant, fare).catch(explain)
} finally {
  await chain.stop()
}
