import type { Client } from 'viem'
import { parseBlock } from '../chain/logs/encodeLogFilter.js'
import type { BlockSelector } from '../chain/rpc/requestNode.js'
import { readSpent } from '../chain/state/getAuthorizationState.js'
import { requireChain } from '../chain/state/getPaymentOutcome.js'
import { checkMembers } from '../core/checkMembers.js'
import { parsePermitPayment } from './parsePermitPayment.js'
import {
  capturedSelector,
  contractCall,
  permitCheckout,
} from './permitCheckout.js'
import type { PermitPayment } from './types.js'

/** The state of a permit payment at one block. */
export type PermitState = 'open' | 'captured' | 'canceled' | 'expired'

/** Payment and block of {@link getPermitState}. */
export type GetPermitStateParameters = {
  payment: PermitPayment
  /** The block at which to read the state. @default 'latest' */
  block?: BlockSelector | undefined
}

/**
 * Gets the state of a permit payment. `canceled`: the payer used the permit
 * nonce and allows the checkout contract nothing, or used a later nonce.
 *
 * Until the block is final, a reorganization can undo the state: rely on
 * `canceled` only with the block `finalized`.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed, or the
 * client is on another chain than the payment.
 * @throws {@link UnsupportedTokenError} when the checkout contract is not
 * deployed.
 * @throws {@link NodeError} when the node does not answer.
 *
 * @example
 * ```ts
 * import { getPermitState, type PermitPayment } from 'countersign/checkout'
 * import type { PublicClient } from 'viem'
 *
 * const isCanceled = async (client: PublicClient, payment: PermitPayment) =>
 *   (await getPermitState(client, { payment, block: 'finalized' })) === 'canceled'
 * ```
 */
export async function getPermitState(
  client: Client,
  parameters: GetPermitStateParameters,
): Promise<PermitState> {
  checkMembers(parameters, ['payment', 'block'])
  const payment = parsePermitPayment(Object(parameters).payment)
  const block = parseBlock(parameters.block ?? 'latest')
  const spentCall = permitCheckout.spentCall(payment)
  const { consumed, head } = await readSpent(client, spentCall, block)
  requireChain(payment, head.chainId)
  if (!consumed)
    return head.timestamp >= payment.message.validBefore ? 'expired' : 'open'
  // This request may be answered at a later block than the first. That is safe:
  // a captured permit stays captured.
  const capturedCall = contractCall(capturedSelector, payment)
  const captured = await readSpent(client, capturedCall, block)
  return captured.consumed ? 'captured' : 'canceled'
}
