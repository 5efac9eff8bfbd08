import { judgeVoucher } from '../../channels/engine.js'
import { lowerOf } from '../../core/lowerOf.js'
import type { ChannelRecord } from '../../store/types.js'
import type { Refusal } from '../gate/types.js'
import { busy, correct, type KnownVoucher, refusedBy } from './refusals.js'
import type { SignedCall } from './types.js'
import { loadAnswer, type VoucherAnswer } from './voucherAnswer.js'

/**
 * Judges whether a voucher pays for its request. Returns the answer that refuses
 * it, or `undefined`.
 */
export async function judgePaid(
  call: SignedCall,
  channel: ChannelRecord,
): Promise<Refusal | undefined> {
  const { terms, desk, payload } = call
  const { maxClaimable } = payload
  if (isPublished(channel, maxClaimable)) return refusePublished(call)
  const verdict = judgeVoucher(
    channel,
    { maxClaimable, price: terms.value },
    { mostUnclaimed: lowerOf(desk.mostUnclaimed, terms.channel.mostUnclaimed) },
  )
  if (verdict.ok) return undefined
  switch (verdict.reason) {
    case 'belowClaimed':
      return refusePublished(call)
    case 'stopped':
      return refuseStopped(call, channel)
    case 'wrongAmount':
    case 'exceedsBalance':
      return correctCall(call, channel)
    case 'tooMuchUnclaimed':
      desk.claimAtLimit(channel)
      return busy
  }
}

/**
 * True for a voucher that a claim has published, so that anybody could send it.
 * If its handler charged less than the price, it allows more than was claimed.
 */
export function isPublished(
  { charged, claimed, signed }: ChannelRecord,
  maxClaimable: bigint,
): boolean {
  return (
    maxClaimable <= claimed || (claimed === charged && maxClaimable === signed)
  )
}

/** Refuses a published voucher. Says nothing about the channel. */
const refusePublished = ({ asked, terms }: SignedCall): Refusal =>
  refusedBy({ ...asked, getOpen: () => [terms] }, 'cumulative_below_claimed')

/**
 * Refuses a voucher, and tells the client the state of its channel. Does not
 * tell it if an earlier claim may have published the voucher: those vouchers
 * allow less than what is claimed plus one price.
 */
export async function correctCall(
  call: SignedCall,
  channel: ChannelRecord,
): Promise<Refusal> {
  const { asked, terms, desk, payload } = call
  const { maxClaimable } = payload
  const mayBePublic =
    channel.claimed > 0n &&
    maxClaimable !== channel.signed &&
    maxClaimable < channel.claimed + terms.value
  if (mayBePublic || isPublished(channel, maxClaimable))
    return refusePublished(call)
  const voucher = await findVoucher(desk, channel)
  return correct(asked, { terms, channel, voucher })
}

async function findVoucher(
  desk: SignedCall['desk'],
  channel: ChannelRecord,
): Promise<KnownVoucher | undefined> {
  const signature = await desk.openVoucher(channel)
  return signature && { maxClaimable: channel.signed, signature }
}

/** Refuses a voucher of a channel that takes no more requests. */
export async function refuseStopped(
  call: SignedCall,
  channel: ChannelRecord,
): Promise<Refusal> {
  const { asked } = call
  // How much is left is known once the refund is decided.
  if (channel.reason === 'refund') return busy
  if (channel.reason === 'withdrawal')
    return refusedBy(
      asked,
      'cumulative_exceeds_balance',
      'The payer has announced a withdrawal from this channel.',
    )
  // Makes the client read its balance on chain, and deposit what is missing.
  if (channel.reason === 'uncovered') return correctCall(call, channel)
  return refusedBy(
    asked,
    'channel_not_found',
    'This channel takes no more requests.',
  )
}

/** Finds the answer that was given to this request with this voucher. */
export async function findAnswer(
  { gate, payload, bound }: SignedCall,
  channel: ChannelRecord,
): Promise<VoucherAnswer | undefined> {
  const { maxClaimable } = payload
  // Only the newest answer of a channel is kept.
  if (maxClaimable !== channel.signed || isPublished(channel, maxClaimable))
    return undefined
  return loadAnswer(gate, channel, bound)
}
