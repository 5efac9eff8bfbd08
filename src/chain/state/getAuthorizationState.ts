import type { Address, Client, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { parseBytes32 } from '../../core/fields.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { word } from '../../core/words.js'
import { UnsupportedTokenError } from '../rpc/errors.js'
import type { BlockSelector } from '../rpc/requestNode.js'
import { isTrue, isWord } from './executor.js'
import { forgetToken, prober } from './getToken.js'
import { runCalls } from './runCalls.js'
import { runPlainCalls } from './runPlainCalls.js'
import type { Call, RunHead } from './types.js'

/** The payment nonce that {@link getAuthorizationState} asks about. */
export type GetAuthorizationStateParameters = {
  /** Address of the token contract. */
  token: Address
  payer: Address
  nonce: Hex
  /** Block at which to read the state. @default 'latest' */
  block?: BlockSelector | undefined
}

/**
 * Returns whether a payment nonce is consumed, by a capture or a cancellation.
 * The token stores both as the same state: use `getPaymentOutcome` to see
 * which.
 *
 * @throws {@link UnsupportedTokenError} when the token has no such state.
 * @throws {@link InvalidFieldError} when an address or the nonce is malformed.
 * @throws {@link NodeError} when the node does not answer.
 *
 * @example
 * ```ts
 * import { getAuthorizationState, type Payment } from 'countersign'
 * import type { PublicClient } from 'viem'
 *
 * export const isSpent = (client: PublicClient, payment: Payment) =>
 *   getAuthorizationState(client, {
 *     token: payment.domain.verifyingContract,
 *     payer: payment.message.from,
 *     nonce: payment.message.nonce,
 *   })
 * ```
 */
export async function getAuthorizationState(
  client: Client,
  parameters: GetAuthorizationStateParameters,
): Promise<boolean> {
  checkMembers(parameters, ['token', 'payer', 'nonce', 'block'])
  return (await getConsumption(client, parameters)).consumed
}

/**
 * Gets whether a payment nonce is used, and the block of this answer, in one
 * request.
 */
export async function getConsumption(
  client: Client,
  parameters: GetAuthorizationStateParameters,
): Promise<{ consumed: boolean; head: RunHead }> {
  const { block = 'latest' } = parameters
  const token = parseCheckedAddress(parameters.token, 'token')
  const payer = parseCheckedAddress(parameters.payer, 'payer')
  const nonce = parseBytes32(parameters.nonce, 'nonce')
  return readSpent(client, authorizationStateCall(token, payer, nonce), block)
}

/**
 * Asks a contract whether a nonce is used. Also returns the block at which it
 * answered.
 */
export async function readSpent(
  client: Client,
  spentCall: Call,
  block: BlockSelector,
): Promise<{ consumed: boolean; head: RunHead }> {
  const { target } = spentCall
  const { head, calls } = await runCalls(client, {
    from: prober,
    fallback: runPlainCalls,
    calls: { state: spentCall },
    block,
  })
  const { state } = calls
  if (!isWord(state)) {
    forgetToken(client, target)
    throw new UnsupportedTokenError({
      token: target,
      problem: 'has no authorizationState',
    })
  }
  return { consumed: isTrue(state), head }
}

export function authorizationStateCall(
  token: Address,
  payer: Address,
  nonce: Hex,
): { target: Address; data: string; gas: number } {
  return {
    target: token,
    // biome-ignore lint/style/useTemplate: fewer bytes. Selector of `authorizationState(address,bytes32)`
    data: 'e94a0102' + word(payer) + word(nonce),
    gas: 100_000,
  }
}
