import type { Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { parsePositiveInteger } from '../../core/fields.js'
import {
  checkKeccak,
  type Keccak256,
  viemKeccak256,
} from '../../core/keccak.js'
import { word } from '../../core/words.js'
import { channelDigest, structHash } from './channelDigest.js'
import { parseChannelConfig } from './parseChannelConfig.js'
import type { ChannelConfig } from './types.js'

/** Parameters of {@link hashChannelConfig}. */
export type HashChannelConfigParameters = {
  config: ChannelConfig
  chainId: number
  /**
   * Hash function, for example that of `countersign/accelerate`.
   * @default viem's
   */
  keccak256?: Keccak256 | undefined
}

/**
 * Returns the id of a channel: the EIP-712 hash of its terms. The contract's
 * `getChannelId` returns the same.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import { hashChannelConfig } from 'countersign/channels'
 *
 * const channelId = hashChannelConfig({
 *   chainId: 8453,
 *   config: {
 *     payer: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
 *     payerAuthorizer: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
 *     receiver: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
 *     receiverAuthorizer: '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
 *     token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
 *     withdrawDelay: 3_600,
 *     salt: `0x${'00'.repeat(32)}`,
 *   },
 * })
 * ```
 */
export function hashChannelConfig(
  parameters: HashChannelConfigParameters,
): Hex {
  checkMembers(parameters, ['config', 'chainId', 'keccak256'])
  const given: HashChannelConfigParameters = Object(parameters)
  const { keccak256 = viemKeccak256 } = given
  checkKeccak(keccak256)
  const config = parseChannelConfig(given.config)
  const chainId = parsePositiveInteger(given.chainId, 'chainId')
  return hashParsedConfig(config, chainId, keccak256)
}

/** Like {@link hashChannelConfig}, for terms that were parsed. */
export function hashParsedConfig(
  config: ChannelConfig,
  chainId: number,
  keccak256: Keccak256 = viemKeccak256,
): Hex {
  const struct = structHash('ChannelConfig', configWords(config), keccak256)
  return channelDigest(chainId, struct, keccak256)
}

/**
 * Encodes the terms as seven ABI words, as the contract's functions take them.
 */
export function configWords(config: ChannelConfig): string {
  return (
    word(config.payer) +
    word(config.payerAuthorizer) +
    word(config.receiver) +
    word(config.receiverAuthorizer) +
    word(config.token) +
    word(config.withdrawDelay) +
    word(config.salt)
  )
}
