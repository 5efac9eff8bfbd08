import type { SettleResponse } from '@x402/core/types'
import type { Hash } from 'viem'
import type { ChannelRecord } from '../../store/types.js'
import { networkOf } from '../wire/requirements.js'

/** The state of a channel in x402's words: amounts are digits. */
export type ChannelStateExtra = {
  channelId: string
  balance: string
  totalClaimed: string
  /** Unix seconds of the announced withdrawal; 0 if there is none. */
  withdrawRequestedAt: number
  refundNonce: string
  chargedCumulativeAmount: string
}

export function showState(channel: ChannelRecord): ChannelStateExtra {
  const { withdrawableAt, withdrawDelay } = channel
  return {
    channelId: channel.id,
    balance: String(channel.balance),
    totalClaimed: String(channel.claimed),
    withdrawRequestedAt:
      withdrawableAt === undefined ? 0 : Number(withdrawableAt) - withdrawDelay,
    refundNonce: String(channel.refundNonce),
    chargedCumulativeAmount: String(channel.charged),
  }
}

/** A transaction of ours, and the base units that it moved. */
export type Sent = { transaction: Hash; value: bigint }

/**
 * Builds the settlement of an answer. The client adds `chargedAmount` to what it
 * knows as charged, and ignores all of it if the sum is not
 * `chargedCumulativeAmount`.
 *
 * @param given.charged base units; absent for a refund.
 * @param given.sent the deposit or refund of this request, if there is one.
 */
export function settlementOf({
  channel,
  charged,
  sent,
}: {
  channel: ChannelRecord
  charged?: bigint | undefined
  sent: Sent | undefined
}): SettleResponse {
  return {
    success: true,
    payer: channel.payer,
    transaction: sent?.transaction ?? '',
    network: networkOf(channel.chainId),
    amount: sent ? String(sent.value) : '',
    extra: {
      channelState: showState(channel),
      ...(charged === undefined ? {} : { chargedAmount: String(charged) }),
    },
  }
}
