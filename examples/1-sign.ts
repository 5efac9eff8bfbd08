/**
 * A payer signs a payment that the merchant drafted.
 *
 *     npx tsx examples/1-sign.ts
 */
import {
  decodePayment,
  encodePayment,
  preparePayment,
  signPayment,
  UnexpectedPaymentError,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'

const chain = await startDevChain()
const { payer, merchant, public: reader } = chain.clients
const to = merchant.account.address

try {
  // On the merchant's server: the token's own domain and the chain's own time.
  const draft = await preparePayment(reader, {
    token: chain.token,
    from: payer.account.address,
    to,
    amount: '12.50',
  })
  const json = encodePayment(draft)
  console.log(`The merchant sends a draft of ${json.length} bytes:`)
  console.log(draft.message)

  // In the browser: the page knows what it is about to pay, and does not ask
  // the draft.
  const expect = { chainId: chain.chain.id, token: chain.token, to }
  const signed = await signPayment(payer, {
    payment: decodePayment(json),
    expect: { ...expect, amount: '12.50' },
  })
  console.log(`The payer signs a ${signed.primaryType}.`)

  // Had the draft been tampered with, the wallet would never have seen it.
  await signPayment(payer, {
    payment: decodePayment(json),
    expect: { ...expect, amount: '1.25' },
  }).catch((error: unknown) => {
    if (!(error instanceof UnexpectedPaymentError)) throw error
    console.log(`A page that expected 1.25 refuses: ${error.message}`)
  })
} finally {
  await chain.stop()
}
