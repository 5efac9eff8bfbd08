/**
 * "invalid signature" is all a token says. What did the wallet sign instead?
 *
 *     npx tsx examples/5-explain.ts
 */
import {
  explainSignature,
  type Payment,
  paymentTypedData,
  preparePayment,
  verifyPayment,
} from 'countersign'
import { type DevWalletClient, startDevChain } from 'countersign/devchain'

const chain = await startDevChain()
const { payer, merchant, relayer, public: reader } = chain.clients

try {
  const { token } = chain
  const order = { token, to: merchant.account.address, amount: '12.50' }
  const from = payer.account.address
  const payment = await preparePayment(reader, { ...order, from })
  const { domain } = payment

  /** The wallet signs one thing, the merchant is handed another. */
  const present = async (wallet: DevWalletClient, signed: Payment) => {
    const signature = await wallet.signTypedData(paymentTypedData(signed))
    const presented = { ...payment, signature }
    const expect = order
    const verdict = await verifyPayment(reader, { payment: presented, expect })
    console.log(
      verdict.ok
        ? 'ok: the token would pay'
        : `${verdict.reason}: ${verdict.details.words}`,
    )

    const explanation = await explainSignature({ payment: presented })
    if (!explanation.found) console.log(`  signed by ${explanation.signer}`)
    else
      for (const { field, signed, presented } of explanation.differences)
        console.log(`  ${field}: ${signed} was signed, not ${presented}`)
  }

  await present(payer, payment)
  await present(payer, { ...payment, primaryType: 'TransferWithAuthorization' })
  await present(payer, { ...payment, domain: { ...domain, name: 'USDC' } })
  await present(payer, { ...payment, domain: { ...domain, version: '1' } })
  await present(relayer, payment)
} finally {
  await chain.stop()
}
