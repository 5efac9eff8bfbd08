import { isOfGateway, isTemporary } from '../../chain/rpc/classifyFailure.js'
import type { NodeFailure } from '../../chain/rpc/types.js'

/** What the node's answer says about a signed transaction that was sent. */
export type SendStatus =
  | 'sent'
  /** The node already has this transaction. */
  | 'known'
  /**
   * The account nonce is already used, in a block or in the node's pending
   * block.
   */
  | 'nonceTooLow'
  /** The fees are below the minimum of the node. */
  | 'underpriced'
  /**
   * The node has another transaction with this account nonce, and the new fees
   * are too low to replace it.
   */
  | 'replacementUnderpriced'
  /**
   * The mempool is full, the account has too many transactions in it, or a
   * lower account nonce is missing. The node may accept the same transaction
   * later.
   */
  | 'poolFull'
  /** The account cannot pay for its gas. */
  | 'insufficientFunds'
  /** No clear answer: the node may have accepted the transaction. */
  | 'unclear'
  /** The node will never accept this transaction. */
  | 'refused'

/**
 * Error texts of Geth, Reth, Nethermind, Besu, Erigon, anvil, OpenEthereum and
 * rollups. The first match decides. A sequencer's text can contain that of the
 * node behind it, so specific patterns come before general ones.
 */
const wordings: readonly (readonly [RegExp, SendStatus])[] = [
  [
    /already ?(known|imported|mined|finalized)|\bknown transaction|already in (the )?(mem)?pool|already exists in cache|with (the )?same hash|^mined$/i,
    'known',
  ],
  [
    /replace(ment)? (transaction |fee )?(is )?(underpriced|too low)|ReplacementNotAllowed|replace existing|same nonce in the|with higher tip/i,
    'replacementUnderpriced',
  ],
  [
    /pool (is )?full|pool size|queue (is )?full|account limit|spammer|too many (pending )?transactions|transaction limit reached|gapped-nonce|nonce ?gap|lower nonce exists|nonce ?(is )?too ?(high|far|distant)|has ?pending ?(tx|transaction)|already reserved|replace pending|CurrentNonceForDelegation/i,
    'poolFull',
  ],
  [
    /nonce (is )?too low|old ?nonce|nonce (has )?(already|been)|invalid transaction nonce/i,
    'nonceTooLow',
  ],
  [
    /insufficient ?(funds|balance)|enough funds|lack of funds|exceeds account balance|overd(raft|raws)/i,
    'insufficientFunds',
  ],
  [
    /underpriced|fee ?too ?low|price( \S+)? is (too low|below)|price too low|(price|fee|feeCap \d+) below|less than (block )?base fee/i,
    'underpriced',
  ],
  [
    /block gas limit|block's gas limit|gas limit (reached|is too high)|intrinsic gas|invalid (sender|signature|chain)|chain ?id|not authorized|oversized|too large|configured cap|cap exceeded|higher than max|exceeds max fee/i,
    'refused',
  ],
  [
    /deadline|time[d ]*out|cancel|connection|\bEOF\b|gateway|forward|sync|overloaded|null value/i,
    'unclear',
  ],
]

export function classifySendFailure(failure: NodeFailure): SendStatus {
  const [, status] =
    wordings.find(([pattern]) => pattern.test(failure.words)) ?? []
  if (status && status !== 'refused') return status
  // A gateway failed. It may have passed the transaction on to a node before.
  if (isOfGateway(failure)) return 'unclear'
  return status ?? (isTemporary(failure) ? 'unclear' : 'refused')
}
