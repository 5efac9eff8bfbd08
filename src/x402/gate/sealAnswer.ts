import type { SignedPayment } from '../../core/types.js'
import { openSealed } from '../../store/openSealed.js'
import type { SealContext } from '../../store/types.js'
import type { GateContext, KeptResponse } from './types.js'

/**
 * Builds the context for sealing the answer to a payment: it unseals with the
 * same order and payment only. Pure.
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
 * Seals an answer, so that whoever reads the database does not get what was
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
 * Unseals a kept answer. Returns `undefined` when that fails, for example
 * because the key is gone.
 */
export async function openAnswer(
  { context }: Pick<GateContext, 'context'>,
  sealed: string | undefined,
  place: SealContext,
): Promise<KeptResponse | undefined> {
  if (sealed === undefined) return undefined
  const text = await openSealed(context, sealed, place)
  // Only `sealAnswer` seals text for this context, so it has this type.
  return text === undefined ? undefined : (JSON.parse(text) as KeptResponse)
}
