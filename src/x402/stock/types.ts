import type { Address, Hex } from 'viem'
import type { Observation } from '../../core/observeFailure.js'
import type { Sealer } from '../../store/types.js'

/** Options of {@link channelStorage}. */
export type ChannelStorageParameters = {
  /**
   * Encrypts the signature of the newest voucher of each channel, made with
   * `sealer`. @default signatures are stored unencrypted: whoever reads the
   * database can claim up to what the payers signed
   */
  seal?: Sealer | undefined
  /** Receives each record that `list` leaves out, because it is broken. */
  observe?: ((observation: Observation) => void) | undefined
}

/**
 * A channel as the server of `@x402/evm/batch-settlement` records it. Amounts
 * are decimal strings in base units of the token. Members of later versions are
 * stored too.
 */
export type X402Channel = {
  /** Channel id, 32 bytes. */
  channelId: string
  channelConfig: {
    payer: Address
    payerAuthorizer: Address
    receiver: Address
    receiverAuthorizer: Address
    token: Address
    /** Seconds. */
    withdrawDelay: number
    salt: Hex
  }
  /** Sum of all charges. */
  chargedCumulativeAmount: string
  /** Amount of the newest voucher. */
  signedMaxClaimable: string
  /** Signature of the newest voucher. */
  signature: string
  balance: string
  totalClaimed: string
  /** Unix seconds; 0 if there is no withdrawal. */
  withdrawRequestedAt: number
  refundNonce: number
  // No `| undefined`: the type of `@x402/evm` does not allow it.
  /** Unix milliseconds. */
  onchainSyncedAt?: number
  /** Unix milliseconds. */
  lastRequestTimestamp: number
  /** The request that is being served. */
  pendingRequest?: {
    pendingId: string
    signedMaxClaimable: string
    /** Unix milliseconds. */
    expiresAt: number
  }
}

/**
 * `ChannelStorage` of `@x402/evm/batch-settlement/server`, and its
 * `ChannelLockStorage`, which is announced for a later version.
 */
export type X402ChannelStorage = {
  /** Returns the record of a channel, `undefined` if there is none. */
  get(channelId: string): Promise<X402Channel | undefined>
  /** Returns all channels, sorted by id. Leaves out broken records. */
  list(): Promise<X402Channel[]>
  /**
   * Replaces the record of a channel by what `update` returns: `undefined`
   * deletes it, `current` leaves it as it is. No other write comes in between.
   *
   * Calls `update` again, with the newer record, if another process wrote
   * first. So it must have no lasting effect of its own.
   */
  updateChannel(
    channelId: string,
    update: (
      current: X402Channel | undefined,
    ) => X402Channel | undefined | Promise<X402Channel | undefined>,
  ): Promise<{
    channel: X402Channel | undefined
    status: 'updated' | 'unchanged' | 'deleted'
  }>
  /**
   * Takes the lock of a channel for `ttlMs` milliseconds by the database's
   * clock. Resolves to `false` if anyone holds it.
   */
  acquire(channelId: string, pendingId: string, ttlMs: number): Promise<boolean>
  /** Releases the lock if this `pendingId` holds it. */
  release(channelId: string, pendingId: string): Promise<void>
  /** True if anyone holds the lock, or this `pendingId` if there is one. */
  isHeld(channelId: string, pendingId?: string | undefined): Promise<boolean>
}
