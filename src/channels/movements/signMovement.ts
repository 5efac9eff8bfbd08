import { type Hex, hashTypedData } from 'viem'
import type { Keccak256 } from '../../core/keccak.js'
import { hashClaim } from '../contract/claimTypedData.js'
import { refundTypedData } from '../contract/refundTypedData.js'
import type { ChannelConfig, ClaimRow } from '../contract/types.js'
import type { Authorizer } from './authorizer.js'
import type { ClaimSignatures } from './claimSignatures.js'

/**
 * Signs a claim as its rows' authorizer: all rows together, and each alone, so
 * that the worker can leave one out.
 *
 * @throws {@link InvalidFieldError} when a row is malformed, or the rows have
 * more than one authorizer.
 * @throws {@link AuthorizerKeyError} when the authorizer's key is not in the
 * store.
 */
export async function signClaim(
  authorizer: Pick<Authorizer, 'sign'>,
  {
    chainId,
    rows: given,
    keccak256,
  }: {
    chainId: number
    rows: readonly ClaimRow[]
    /** @default viem's */
    keccak256?: Keccak256 | undefined
  },
): Promise<Omit<ClaimSignatures, 'vouchers'>> {
  const rows = given.map(
    ({ config, maxClaimable, signature, claimed }): ClaimRow => ({
      config,
      maxClaimable,
      signature,
      claimed,
    }),
  )
  const [first] = rows
  if (!first) return { alone: [] }
  const { receiverAuthorizer } = first.config
  const signRows = (some: readonly ClaimRow[]) =>
    authorizer.sign(
      receiverAuthorizer,
      hashClaim({ chainId, rows: some, keccak256 }),
    )
  const together = await signRows(rows)
  if (rows.length === 1) return { together, alone: [together] }
  const alone = await Promise.all(rows.map((row) => signRows([row])))
  return { together, alone }
}

/**
 * Signs a refund as its channel's authorizer.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 * @throws {@link AuthorizerKeyError} when the authorizer's key is not in the
 * store.
 */
export function signChannelRefund(
  authorizer: Pick<Authorizer, 'sign'>,
  {
    chainId,
    channelId,
    config,
    refundNonce: nonce,
    value,
  }: {
    chainId: number
    channelId: Hex
    config: Pick<ChannelConfig, 'receiverAuthorizer'>
    refundNonce: bigint
    /** Base units to give back. */
    value: bigint
  },
): Promise<Hex> {
  const refund = refundTypedData({ chainId, channelId, nonce, value })
  return authorizer.sign(config.receiverAuthorizer, hashTypedData(refund))
}
