import type { Address, Hash } from 'viem'
import type { Finality } from '../../core/types.js'

/** Parameters of `ledger`: which rows to return. */
export type LedgerParameters = {
  /** Start of the time range, in Unix seconds. @default 0n, the beginning */
  from?: bigint | undefined
  /** End of the time range, in Unix seconds, exclusive. @default no end */
  to?: bigint | undefined
  /**
   * Reads every transfer to and from the recipients from the chain, and adds
   * their balances as rows of the types `opening` and `closing`. The number of
   * requests grows with the number of blocks. Past blocks need an archive node.
   * @default false
   */
  transfers?: boolean | undefined
  /**
   * Ends the ledger when it aborts; the iteration then throws the signal's
   * reason.
   */
  signal?: AbortSignal | undefined
}

/**
 * What a row of the ledger stands for.
 * - `capture`: an order was paid.
 * - `refund`: tokens of an order were paid back to its payer.
 * - `claim`: the contract of payment channels paid what was claimed from them.
 * - `gas`: a submitter paid gas for a transaction, in the coin of the chain.
 *   This includes reverted transactions, cancellations, fillers (empty
 *   transactions that only use up an account nonce), and the deposits, claims
 *   and refunds of channels. Deposits and refunds of channels have no other
 *   row, because a deposit stays the payer's until it is claimed.
 * - `transfer`: a transfer that no order or refund explains.
 * - `unpaid`: a capture was answered at `preconfirmed`, while only the pending
 *   block showed it, and then failed. No tokens moved.
 * - `opening`, `closing`: the balance of a recipient before the first row and
 *   after the last. No tokens moved.
 */
type LedgerRowType =
  | 'capture'
  | 'refund'
  | 'claim'
  | 'gas'
  | 'transfer'
  | 'unpaid'
  | 'opening'
  | 'closing'

/** One row of the ledger: a payment, refund, transfer, gas cost or balance. */
export type LedgerRow = {
  type: LedgerRowType
  chainId: number
  /** Contract address of the token. Absent for gas. */
  token: Address | undefined
  /**
   * Symbol of the token or coin, or the token's address if its symbol is
   * unknown.
   */
  symbol: string
  /** Decimals of the token or coin of this row. */
  decimals: number
  /**
   * The recipient in whose books the row is entered, for gas and refunds too.
   */
  recipient: Address
  /**
   * Token units that the recipient received. Negative if the recipient sent
   * them; 0 for gas.
   */
  gross: bigint
  /** Wei paid for gas; 0 for all other rows. */
  fee: bigint
  /** `gross` minus `fee`. */
  net: bigint
  /**
   * The recipient's `balanceOf` after the block of the row, in token units.
   * Only on `opening` and `closing` rows.
   */
  balance: bigint | undefined
  /** Token units that were expected but never paid. Only on `unpaid` rows. */
  unpaid: bigint | undefined
  /**
   * Finality of the row's block. Absent if the store does not know it; with
   * `transfers` always set.
   */
  finality: Finality | undefined
  /**
   * Transaction of the row. Absent on `unpaid`, `opening` and `closing` rows.
   */
  transactionHash: Hash | undefined
  /** Block of the transaction. 0 on `unpaid` rows, which are in no block. */
  blockNumber: bigint
  /**
   * Time of the block in Unix seconds. On `unpaid` rows, the time of our own
   * clock.
   */
  blockTime: bigint
  /** Index of the transfer's log in its block. Absent for gas and balances. */
  logIndex: number | undefined
  orderId: string | undefined
  refundId: string | undefined
  /**
   * The deposit, claim or refund of channels, as `channelMoved` events name it.
   * Absent on a `claim` row if somebody else had the contract pay.
   */
  movementId: string | undefined
  /** Payer of the order, or the account that sent the transfer. */
  payer: Address | undefined
  /**
   * Account that received the transfer, if the recipient sent it; otherwise
   * absent.
   */
  payee: Address | undefined
  /** Account that sent the transaction and paid its gas. Only on `gas` rows. */
  submitter: Address | undefined
}

/** The time range of a ledger, checked. */
export type LedgerRange = {
  /** Start in Unix seconds. */
  from: bigint
  /** End in Unix seconds, exclusive. */
  to: bigint
}
