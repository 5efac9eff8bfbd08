import { preparePayment, type SignedPayment, signPayment } from 'countersign'
import type { Stage } from './types.js'

/** What `signedPayment` pays, in whole tokens. */
export const amount = '12.50'

/** A payment of the payer to the merchant. */
export async function signedPayment(stage: Stage): Promise<SignedPayment> {
  const { reader, payer, merchant, token, chainId } = stage
  const order = { token, to: merchant.account.address, amount }
  const from = payer.account.address
  const payment = await preparePayment(reader, { ...order, from })
  return signPayment(payer, { payment, expect: { ...order, chainId } })
}
