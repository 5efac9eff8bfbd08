import type { Address, Hex } from 'viem'
import type { ChannelRecord, ChannelState } from '../../store/types.js'

/** A channel as its merchant sees it. Amounts in base units of the token. */
export type Channel = {
  channelId: Hex
  chainId: number
  token: Address
  /** The account that is paid. */
  recipient: Address
  payer: Address
  /**
   * `opening`: no deposit is credited yet. `open`: takes requests. `stopped`:
   * takes none; `reason` says why.
   */
  state: ChannelState
  /**
   * `withdrawal`: the payer announced a withdrawal, and the channel takes
   * requests only up to what it leaves. `uncovered`: the deposit does
   * not cover the charges. `refund`: a refund is on its way. `merchant`: you
   * stopped it. `preconfirmed`: it is open, and `balance` counts a deposit that no
   * block has yet.
   */
  reason: string | undefined
  /** Deposited in the contract, as of `seenAt`. */
  balance: bigint
  /** Charged for requests in all. */
  charged: bigint
  /** Claimed on chain, as of `seenAt`. */
  claimed: bigint
  /** Charged and not claimed yet: lost if the payer withdraws first. */
  unclaimed: bigint
  /** The payer's withdrawal, if one is announced. Times in Unix seconds. */
  withdrawal: { value: bigint; finalizableAt: bigint } | undefined
  /** When the state on chain was last read, in Unix seconds of its block. */
  seenAt: bigint
  /** When the channel was last charged, in Unix seconds. */
  usedAt: bigint
  /** When it is claimed next, in Unix seconds; absent if nothing is owed. */
  claimDue: bigint | undefined
}

export function showChannel(row: ChannelRecord): Channel {
  const { id, chainId, token, recipient, payer, state, reason } = row
  const { balance, charged, claimed, withdrawing, withdrawableAt } = row
  const { seenAt, usedAt, due } = row
  return {
    channelId: id,
    chainId,
    token,
    recipient,
    payer,
    state,
    reason,
    balance,
    charged,
    claimed,
    unclaimed: charged - claimed,
    withdrawal:
      withdrawableAt === undefined
        ? undefined
        : { value: withdrawing, finalizableAt: withdrawableAt },
    seenAt,
    usedAt,
    claimDue: charged > claimed ? due : undefined,
  }
}
