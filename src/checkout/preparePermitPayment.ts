import type { Address, Client } from 'viem'
import { getPermitToken } from '../chain/state/getPermitToken.js'
import { checkMembers } from '../core/checkMembers.js'
import { checkClock, parseTime } from '../core/clock.js'
import { parseCheckedAddress } from '../core/parseCheckedAddress.js'
import {
  type BuildPermitPaymentParameters,
  buildPermitPayment,
} from './buildPermitPayment.js'
import type { PermitPayment } from './types.js'

/** Token, accounts, ceiling and deadline for {@link preparePermitPayment}. */
export type PreparePermitPaymentParameters = Omit<
  BuildPermitPaymentParameters,
  'domain' | 'decimals' | 'nonce' | 'now'
> & {
  /** Address of the token contract. */
  token: Address
  /**
   * Unix seconds with which the chain's clock is compared.
   * @default the wall clock
   */
  now?: bigint | undefined
}

/**
 * Builds a permit payment with the token's domain and decimals, the payer's
 * permit nonce and the time of the chain, in one request.
 *
 * Nothing is reserved. Does not check whether the checkout contract of
 * recipient and operator is deployed: `verifyPayment` does.
 *
 * @throws {@link UnsupportedTokenError} when the token has no permit as in
 * EIP-2612; DAI's differs.
 * @throws {@link DomainMismatchError} when the token's domain cannot be proven.
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120
 * s.
 * @throws {@link InvalidAmountError} {@link InvalidFieldError} when a parameter
 * is malformed.
 * @throws {@link NodeError} when the node does not answer.
 *
 * @example
 * ```ts
 * import { preparePermitPayment } from 'countersign/checkout'
 * import type { Address, PublicClient } from 'viem'
 *
 * const draft = (client: PublicClient, token: Address) =>
 *   preparePermitPayment(client, {
 *     token,
 *     from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *     to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *     atMost: '50.00',
 *   })
 * ```
 */
export async function preparePermitPayment(
  client: Client,
  parameters: PreparePermitPaymentParameters,
): Promise<PermitPayment> {
  checkMembers(parameters, [
    'token',
    'from',
    'to',
    'atMost',
    'operator',
    'validBefore',
    'now',
  ])
  const { token: given, now, ...fields } = parameters
  const token = parseCheckedAddress(given, 'token')
  const payer = parseCheckedAddress(fields.from, 'from')
  const wallClock = parseTime(now)
  const found = await getPermitToken(client, token, payer)
  const { domain, decimals, permitNonce, head } = found
  checkClock(head, wallClock)
  return buildPermitPayment({
    ...fields,
    domain,
    decimals,
    nonce: permitNonce,
    now: head.timestamp,
  })
}
