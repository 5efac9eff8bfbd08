import type { Client, Hash } from 'viem'
import type {
  Authorizer,
  ChainChannel,
  ChannelsContext,
} from '../../channels/engine.js'
import type { CodeName } from '../channel/refusals.js'
import type {
  FacilitatorContext,
  SettledCaller,
} from '../facilitator/facilitatorContext.js'
import type { X402ErrorCode } from '../wire/errorCodes.js'
import type { WantedCall } from './parseChannelCall.js'

/** What serves the scheme `batch-settlement`. */
export type ChannelFacilitator = {
  facilitator: FacilitatorContext
  channels: ChannelsContext
  /** Opens the keys that sign for a caller's channels, and for no others. */
  getAuthorizer(caller: SettledCaller): Promise<Authorizer>
}

/** A call that its caller may make. */
export type ServedCall = WantedCall & {
  caller: SettledCaller
  client: Client
  /** Aborts when the client has disconnected. */
  signal: AbortSignal
  /** Time of `performance.now()` at which the answer is due. */
  until: number
}

/** Why a call is refused, in the words of x402. */
export type RefusedCall = {
  ok: false
  code: X402ErrorCode
  hash?: Hash | undefined
  words?: string | undefined
}

export function refuseCall(name: CodeName, words?: string): RefusedCall {
  return { ok: false, code: `invalid_batch_settlement_evm_${name}`, words }
}

export const pending = (hash?: Hash | undefined): RefusedCall => ({
  ok: false,
  code: 'settlement_pending',
  hash,
})

/** The state of a channel, in x402's words. */
export type ShownState = {
  channelId: string
  balance: string
  totalClaimed: string
  withdrawRequestedAt: number
  refundNonce: string
}

/**
 * Base units that vouchers can rely on: the balance without what the payer's
 * withdrawal can take.
 *
 * @param deposit base units that come to the balance. The withdrawal can take
 * them too.
 */
export function safeBalance(
  { balance, claimed, withdrawal }: ChainChannel,
  deposit = 0n,
): bigint {
  const left = balance + deposit - (withdrawal?.value ?? 0n)
  return left > claimed ? left : claimed
}

/**
 * Shows the state of a channel to a stock server. The balance is only what
 * vouchers can rely on, because the server trusts it for minutes.
 */
export function showChain(channelId: string, state: ChainChannel): ShownState {
  const { claimed, withdrawal, refundNonce } = state
  return {
    channelId,
    balance: String(safeBalance(state)),
    totalClaimed: String(claimed),
    withdrawRequestedAt: Number(withdrawal?.initiatedAt ?? 0n),
    refundNonce: String(refundNonce),
  }
}
