import type { SignedPayment } from '../../core/types.js'
import { openSealed } from '../../store/openSealed.js'
import type { SealContext } from '../../store/types.js'
import type { GateContext, KeptResponse } from './types.js'

/**
 * Builds the context that encrypts the answer to a payment. The answer can be
 * decrypted only with the same order and payment.
 */
export function placeOfAnswer(
  orderId: string,
  { domain, message }: SignedPayment,
): SealContext {
  return {
    kind: 'answer',
    orderId,
    attempt: 1,
    chainId: domain.chainId,
    token: domain.verifyingContract,
    payer: message.from,
    nonce: message.nonce,
  }
}

/**
 * Encrypts an answer, so that a reader of the database does not get what was
 * sold.
 */
export function sealAnswer(
  { context }: Pick<GateContext, 'context'>,
  response: KeptResponse,
  place: SealContext,
): Promise<string> {
  return context.sealer.seal(JSON.stringify(response), place)
}

/**
 * Decrypts a stored answer. Returns `undefined` if that fails, for example
 * because the key is gone.
 */
export async function openAnswer(
  { context }: Pick<GateContext, 'context'>,
  sealed: string | undefined,
  place: SealContext,
): Promise<KeptResponse | undefined> {
  if (sealed === undefined) return undefined
  const text = await openSealed(context, sealed, place)
  // The cast is safe: only `sealAnswer` encrypts for this context.
  return text === undefined ? undefined : (JSON.parse(text) as KeptResponse)
}
