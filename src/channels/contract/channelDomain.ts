import type { Address } from 'viem'
import { parsePositiveInteger } from '../../core/fields.js'
import type { TokenDomain } from '../../core/types.js'

/** Address of `x402BatchSettlement`, the same on each chain that has it. */
export const channelContract: Address =
  '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003'

/**
 * Address of `ERC3009DepositCollector`, through which an EIP-3009 payment
 * becomes a deposit. The same on each chain that has it.
 */
export const depositCollector: Address =
  '0x4020806089470a89826cb9fb1f4059150b550004'

/**
 * The EIP-712 domain of the channel contract on a chain.
 *
 * @throws {@link InvalidFieldError} when `chainId` is not a positive integer.
 *
 * @example
 * ```ts
 * import { channelDomain } from 'countersign/channels'
 *
 * const { verifyingContract } = channelDomain(8453)
 * ```
 */
export function channelDomain(chainId: number): TokenDomain {
  return {
    name: 'x402 Batch Settlement',
    version: '1',
    chainId: parsePositiveInteger(chainId, 'chainId'),
    verifyingContract: channelContract,
  }
}
