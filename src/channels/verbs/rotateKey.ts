import type { Address } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { checkTimeout } from '../../core/checkTimeout.js'
import { rotateAuthorizer } from '../movements/authorizer.js'
import { type ClaimReport, claimChannels } from './claimChannels.js'
import type { ChannelsContext } from './context.js'

/** Parameters of `rotateKey`. */
export type RotateKeyParameters = {
  /** Milliseconds to wait for the claims. @default 60_000 */
  timeout?: number | undefined
}

/** The new key, and what became of the claims. */
export type RotatedKey = {
  /** Address of the new key: the `receiverAuthorizer` of new channels. */
  address: Address
  claims: ClaimReport
}

/**
 * Implements `rotateKey` of `Channels`. The key comes first: what is charged
 * meanwhile belongs to the old key, which claims it later.
 */
export async function rotateKey(
  channels: ChannelsContext,
  parameters: RotateKeyParameters,
): Promise<RotatedKey> {
  checkMembers(parameters, ['timeout'])
  const { timeout = 60_000 } = parameters
  checkTimeout(timeout)
  const { address } = await rotateAuthorizer(channels.context)
  const claims = await claimChannels(channels, { timeout })
  return { address, claims }
}
