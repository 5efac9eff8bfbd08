import type { ChannelRecord, OrderRecord } from '../../store/types.js'
import { balanceAhead, markAhead } from './aheadOfChain.js'
import type { ChannelChain } from './types.js'

/**
 * Copies what the chain says about a channel. While its payer withdraws, a
 * channel takes requests only up to the rest, and is due for a claim at once. It
 * takes none while its charges exceed its deposit, and goes on once the deposit
 * covers them, unless the merchant stopped it. A deposit that was credited when
 * it was pre-confirmed counts until a block has it, or its time is over.
 *
 * Returns the same record for an answer that is older than the copy: nodes
 * behind one address can be at different blocks.
 *
 * @param deposit the deposit that was credited early, if there is one.
 */
export function copyChain(
  channel: ChannelRecord,
  chain: ChannelChain,
  deposit?: OrderRecord | undefined,
): ChannelRecord {
  const { claimed, withdrawal, refundNonce, at } = chain
  if (at.blockNumber < channel.seenBlock) return channel
  const balance = balanceAhead(channel, chain, deposit)
  const isEarly = balance > chain.balance
  const isClaimed = claimed >= channel.charged
  const withdrawableAt =
    withdrawal && withdrawal.initiatedAt + BigInt(channel.withdrawDelay)
  // A withdrawal that nobody saw announced, for example while no worker ran.
  const isThreatened =
    withdrawal !== undefined && isNewWithdrawal(channel, withdrawableAt)
  // The worker decides again when it claims what is owed now.
  const isUncovered = balance < channel.charged && balance !== channel.balance
  const isChanged =
    isThreatened ||
    isUncovered ||
    claimed !== channel.claimed ||
    channel.due === undefined
  const copied: ChannelRecord = {
    ...channel,
    // Somebody may claim up to the newest voucher, and never more.
    charged: isClaimed ? claimed : channel.charged,
    balance,
    claimed,
    withdrawing: withdrawal?.value ?? 0n,
    withdrawableAt,
    refundNonce,
    seenBlock: at.blockNumber,
    seenAt: at.blockTime,
    unclaimedSince: isClaimed ? undefined : sinceClaim(channel, chain),
    due: isClaimed ? undefined : isChanged ? 0n : channel.due,
  }
  // A refund that is on its way pays from what is not charged yet.
  const isRefunding =
    channel.reason === 'refund' && refundNonce === channel.refundNonce
  if (isRefunding) return copied
  const state = coveredState(copied)
  // A reorganization undid a refund: its transaction may be mined again.
  const isUndone = refundNonce < channel.refundNonce
  if (isUndone && state.reason !== 'merchant')
    return { ...copied, state: 'stopped', reason: 'refund', due: 0n }
  const covered = { ...copied, ...state }
  return isEarly ? markAhead(covered) : covered
}

/**
 * Returns the time from which a channel owes something: after a claim, only the
 * later charges are owed. If a reorganization undid the claim, all are.
 */
function sinceClaim(
  { claimed, unclaimedSince }: ChannelRecord,
  chain: ChannelChain,
): bigint {
  const { blockTime } = chain.at
  if (unclaimedSince === undefined) return blockTime
  const isClaimed = chain.claimed > claimed && unclaimedSince < blockTime
  return isClaimed ? blockTime : unclaimedSince
}

/**
 * True for a withdrawal that is not on record. Its payer can end one and announce
 * the next in one transaction.
 */
export const isNewWithdrawal = (
  { withdrawing, withdrawableAt }: ChannelRecord,
  at: bigint | undefined,
): boolean => withdrawing === 0n || withdrawableAt !== at

/** Decides whether a channel takes requests, by what the chain covers. */
export function coveredState(
  channel: ChannelRecord,
): Pick<ChannelRecord, 'state' | 'reason'> {
  const { state, reason, balance, charged, withdrawing } = channel
  if (state === 'stopped' && reason === 'merchant') return { state, reason }
  if (withdrawing > 0n) return { state: 'stopped', reason: 'withdrawal' }
  if (balance < charged) return { state: 'stopped', reason: 'uncovered' }
  if (balance === 0n) return { state: 'opening', reason: undefined }
  return { state: 'open', reason: undefined }
}
