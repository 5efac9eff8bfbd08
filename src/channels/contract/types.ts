import type { Address, Hex } from 'viem'

/**
 * The terms of a channel, `ChannelConfig` of x402's `batch-settlement` scheme.
 * Their hash is the channel's id, so no term can change later.
 */
export type ChannelConfig = {
  /** Account that deposits, and can withdraw or be refunded the rest. */
  payer: Address
  /**
   * Account whose key signs the vouchers. The zero address lets the payer sign,
   * also as a contract wallet (ERC-1271), which can later deny a signature.
   */
  payerAuthorizer: Address
  /** Account that is paid. */
  receiver: Address
  /** Account whose key signs claims and refunds. */
  receiverAuthorizer: Address
  /** Address of the token contract. */
  token: Address
  /** Seconds from the start of the payer's withdrawal to its end. */
  withdrawDelay: number
  /** 32 bytes that tell apart channels with the same other terms. */
  salt: Hex
}

/**
 * What the payer lets the receiver claim. Cumulative: each voucher replaces the
 * one before.
 */
export type Voucher = {
  channelId: Hex
  /**
   * Most that the receiver may have claimed in total, in base units of the
   * token. On the wire and in the signed message: `maxClaimableAmount`.
   */
  maxClaimable: bigint
}

/** A voucher with its signature. The signature is a credential: never log it. */
export type SignedVoucher = Voucher & { signature: Hex }

/** One channel in a claim. */
export type ClaimRow = {
  config: ChannelConfig
  /** `maxClaimable` of the voucher, in base units. */
  maxClaimable: bigint
  /** Signature of the voucher. */
  signature: Hex
  /**
   * New total that the receiver has claimed, in base units: at most
   * `maxClaimable`. The contract ignores a row whose total is not above the
   * present one.
   */
  claimed: bigint
}

/** A call to the channel contract, for a transaction or a batch. */
export type ChannelCall = { to: Address; data: Hex }
