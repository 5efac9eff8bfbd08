import { type Address, recoverAddress } from 'viem'
import { hashChecked } from '../../core/hashPayment.js'
import { tokenSignature } from '../../core/signature.js'
import type { SignedPayment } from '../../core/types.js'

/**
 * True when the payer's own key signed this payment. Asks no node, so it cannot
 * check the signature of a smart wallet and returns false for it.
 */
export async function isSignedByKey(payment: SignedPayment): Promise<boolean> {
  const signature = tokenSignature(payment.signature)
  if (signature?.length !== 132) return false
  try {
    const hash = hashChecked(payment)
    const signer: Address = await recoverAddress({ hash, signature })
    return signer.toLowerCase() === payment.message.from
  } catch {
    return false
  }
}
