import type { Address, Hash } from 'viem'
import type { MembersOf } from '../../core/checkMembers.js'
import type { Finality } from '../../core/types.js'

/** Parameters of `ledger`: which rows to return. */
export type LedgerParameters = {
  /** First second, in Unix seconds. @default 0n, the beginning */
  from?: bigint | undefined
  /** First second after the rows. @default no end */
  to?: bigint | undefined
  /**
   * Reads every transfer into and out of the recipients from the chain, and
   * adds their balances as rows of the types `opening` and `closing`. Takes
   * requests in proportion to the number of blocks. For blocks of the past it
   * needs an archive node. @default false
   */
  transfers?: boolean | undefined
  /** Ends the ledger, which then throws the signal's reason. */
  signal?: AbortSignal | undefined
}

export const ledgerMembers: MembersOf<LedgerParameters> = {
  from: true,
  to: true,
  transfers: true,
  signal: true,
}

/**
 * What a row of the ledger says.
 *
 * - `capture`: an order was paid.
 * - `refund`: a payer got tokens of an order back.
 * - `gas`: a submitter paid for a transaction, in the coin of the chain. Also
 *   for a reverted transaction, a cancellation or a filler.
 * - `transfer`: tokens came or went, and no order or refund explains it.
 * - `unpaid`: a request was answered at `preconfirmed`, while only the pending
 *   block showed the capture, and the capture failed. It moves nothing.
 * - `opening`, `closing`: the balance of a recipient before the first row and
 *   after the last. They move nothing.
 */
type LedgerRowType =
  | 'capture'
  | 'refund'
  | 'gas'
  | 'transfer'
  | 'unpaid'
  | 'opening'
  | 'closing'

/** One row of the ledger. */
export type LedgerRow = {
  type: LedgerRowType
  chainId: number
  /** Contract of the token. Absent for gas. */
  token: Address | undefined
  /** Symbol of the token or coin, or the token's address if we know none. */
  symbol: string
  /** Decimals of all amounts of this row. */
  decimals: number
  /** The recipient whose books the row belongs to, for gas and refunds too. */
  recipient: Address
  /**
   * Tokens that reached the recipient, in token units. Negative if they left
   * the recipient; 0 for gas.
   */
  gross: bigint
  /** Wei paid for gas; 0 for all other rows. */
  fee: bigint
  /** `gross` minus `fee`. */
  net: bigint
  /**
   * `balanceOf` the recipient after the block of the row, in token units. Only
   * on `opening` and `closing` rows.
   */
  balance: bigint | undefined
  /** Token units that were not paid. Only on `unpaid` rows. */
  unpaid: bigint | undefined
  /**
   * Absent if the store does not know it. With `transfers` it is always there.
   */
  finality: Finality | undefined
  /** Absent on `unpaid`, `opening` and `closing` rows. */
  transactionHash: Hash | undefined
  /** 0 on `unpaid` rows, which no block shows. */
  blockNumber: bigint
  /** Unix seconds; of our own clock on `unpaid` rows. */
  blockTime: bigint
  /** Index of the transfer's log in its block. Absent for gas and balances. */
  logIndex: number | undefined
  orderId: string | undefined
  refundId: string | undefined
  /** Payer of the order, or the account that sent a transfer. */
  payer: Address | undefined
  /** Account that a transfer went to, if it left the recipient. */
  payee: Address | undefined
  /** Account that paid the gas. */
  submitter: Address | undefined
}

/** The checked parameters of a ledger. */
export type LedgerRange = {
  /** Unix seconds. */
  from: bigint
  /** Exclusive. */
  to: bigint
}
