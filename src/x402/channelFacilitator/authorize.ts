import { type Hex, hashTypedData, recoverAddress } from 'viem'
import {
  type ChannelConfig,
  type ClaimSignatures,
  hashClaim,
  type PlannedRow,
  refundTypedData,
  signChannelRefund,
  signClaim,
} from '../../channels/engine.js'
import {
  type ChannelFacilitator,
  type RefusedCall,
  refuseCall,
  type ServedCall,
} from './context.js'

/**
 * Returns the signatures of a claim by the receiver's authorizer: the server's
 * own one, once it is checked, otherwise ours. Signs only for channels whose
 * authorizer is the key of this caller.
 */
export async function authorizeClaim(
  scheme: ChannelFacilitator,
  { caller, chainId }: ServedCall,
  {
    rows,
    signature,
  }: { rows: readonly PlannedRow[]; signature: Hex | undefined },
): Promise<Omit<ClaimSignatures, 'vouchers'> | RefusedCall> {
  const { keccak256 } = scheme.channels.context
  const plain = rows.map(({ channelId, ...row }) => row)
  const [first] = rows
  if (!first) return { alone: [] }
  const { config } = first
  if (signature === undefined) {
    const own = await openOwn(scheme, { caller, config })
    return 'code' in own
      ? own
      : signClaim(own, { chainId, rows: plain, keccak256 })
  }
  const hash = hashClaim({ chainId, rows: plain, keccak256 })
  const wrong = await refuseSigner(scheme, { hash, signature, config })
  return (
    wrong ?? { together: signature, alone: rows.length > 1 ? [] : [signature] }
  )
}

/** Like {@link authorizeClaim}, for a refund of `value` base units. */
export async function authorizeRefund(
  scheme: ChannelFacilitator,
  { caller, chainId }: ServedCall,
  {
    signature,
    ...refund
  }: {
    channelId: Hex
    config: ChannelConfig
    refundNonce: bigint
    value: bigint
    signature: Hex | undefined
  },
): Promise<Hex | RefusedCall> {
  const { channelId, config, refundNonce: nonce, value } = refund
  if (signature === undefined) {
    const own = await openOwn(scheme, { caller, config })
    return 'code' in own ? own : signChannelRefund(own, { chainId, ...refund })
  }
  const typed = refundTypedData({ chainId, channelId, nonce, value })
  const hash = hashTypedData(typed)
  return (await refuseSigner(scheme, { hash, signature, config })) ?? signature
}

/** Opens the keys of a caller if one of them is the channel's authorizer. */
export async function openOwn(
  { getAuthorizer }: ChannelFacilitator,
  {
    caller,
    config,
  }: Pick<ServedCall, 'caller'> & {
    config: Pick<ChannelConfig, 'receiverAuthorizer'>
  },
): Promise<Awaited<ReturnType<typeof getAuthorizer>> | RefusedCall> {
  const own = await getAuthorizer(caller)
  return own.addresses.includes(config.receiverAuthorizer)
    ? own
    : refuseCall(
        'authorizer_address_mismatch',
        "The channel's receiverAuthorizer is not the key of this caller: send its signature.",
      )
}

async function refuseSigner(
  { channels }: ChannelFacilitator,
  {
    hash,
    signature,
    config: { receiverAuthorizer },
  }: {
    hash: Hex
    signature: Hex
    config: Pick<ChannelConfig, 'receiverAuthorizer'>
  },
): Promise<RefusedCall | undefined> {
  const { recoverAddress: recover = recoverAddress } = channels
  try {
    const signer = await recover({ hash, signature })
    if (signer?.toLowerCase() === receiverAuthorizer) return undefined
  } catch {
    // No key has made this signature.
  }
  return refuseCall('authorizer_address_mismatch')
}
