import {
  type ChainChannel,
  type ChannelConfig,
  checkVoucher,
  getChannel,
  hashParsedConfig,
} from '../../channels/engine.js'
import type { ChannelPayload } from '../channel/parsePayload.js'
import {
  type ChannelFacilitator,
  type RefusedCall,
  refuseCall,
  type ServedCall,
  safeBalance,
} from './context.js'

/** `ok` with the state of the channel on chain; otherwise the refusal. */
export type JudgedChannel = { ok: true; state: ChainChannel } | RefusedCall

/** Judges a voucher by its terms, its signature, and the channel on chain. */
export async function judgeVoucherCall(
  scheme: ChannelFacilitator,
  call: ServedCall,
  payload: ChannelPayload,
): Promise<JudgedChannel> {
  const { id: channelId, type } = payload
  const refused = await refuseVoucher(scheme, call, payload)
  if (refused) return refused
  const state = await getChannel(call.client, { channelId })
  if (state.balance === 0n) return refuseCall('channel_not_found')
  const covered = coverVoucher(payload, state)
  if (covered) return covered
  // The voucher of a refund may be claimed already.
  const least = type === 'refund' ? state.claimed : state.claimed + 1n
  return payload.maxClaimable < least
    ? refuseCall('cumulative_below_claimed')
    : { ok: true, state }
}

/**
 * Refuses a voucher that the balance does not cover, now or once an announced
 * withdrawal ends.
 *
 * @param deposit base units that come to the balance.
 */
export function coverVoucher(
  { maxClaimable }: ChannelPayload,
  state: ChainChannel,
  deposit = 0n,
): RefusedCall | undefined {
  if (maxClaimable <= safeBalance(state, deposit)) return undefined
  return refuseCall(
    'cumulative_exceeds_balance',
    state.withdrawal && 'The payer has announced a withdrawal.',
  )
}

/** Refuses a voucher by its terms and its signature. Asks no node. */
export async function refuseVoucher(
  { facilitator, channels }: ChannelFacilitator,
  call: ServedCall,
  payload: ChannelPayload,
): Promise<RefusedCall | undefined> {
  const { id: channelId, config, maxClaimable, signature } = payload
  const wrong = refuseTerms(call, payload)
  if (wrong) return wrong
  const isOpenToPayer = !BigInt(config.payerAuthorizer)
  if (isOpenToPayer && facilitator.contractPayers === 'refuse')
    return refuseCall(
      'voucher_signature',
      'This facilitator accepts no channels without a payerAuthorizer.',
    )
  const verdict = await checkVoucher({
    chainId: call.chainId,
    voucher: { channelId, maxClaimable },
    signature,
    signer: isOpenToPayer ? config.payer : config.payerAuthorizer,
    recoverAddress: channels.recoverAddress,
    keccak256: channels.context.keccak256,
  })
  // The server stores the signature as it is, and the contract takes only one
  // form of it.
  return verdict.ok && verdict.signature === signature
    ? undefined
    : refuseCall('voucher_signature')
}

/** Compares a channel with the id and the requirements of its call. */
export function refuseTerms(
  { chainId, recipient, token, extra }: ServedCall,
  { config, id }: { config: ChannelConfig; id: string },
): RefusedCall | undefined {
  if (hashParsedConfig(config, chainId) !== id)
    return refuseCall('channel_id_mismatch')
  if (config.receiver !== recipient) return refuseCall('receiver_mismatch')
  const { receiverAuthorizer, withdrawDelay } = extra
  if (String(receiverAuthorizer).toLowerCase() !== config.receiverAuthorizer)
    return refuseCall('receiver_authorizer_mismatch')
  if (config.token !== token) return refuseCall('token_mismatch')
  const isOther =
    withdrawDelay !== undefined &&
    Number(withdrawDelay) !== config.withdrawDelay
  return isOther ? refuseCall('withdraw_delay_mismatch') : undefined
}
