import { isPassing, type NodeFailure } from '../../chain/rpc/errors.js'

/** What a node's answer to signed bytes means for them. */
export type SendStatus =
  | 'sent'
  /** The node has these bytes already. */
  | 'known'
  /** The chain, or what the node foresees, has spent the nonce. */
  | 'nonceTooLow'
  /** Its fees are below what the node takes. */
  | 'underpriced'
  /** The node holds another transaction of the nonce, and this pays too little more. */
  | 'replacementUnderpriced'
  /**
   * No room now, in the pool or for this sender, or an earlier nonce has to
   * come first. The same bytes may be taken later.
   */
  | 'poolFull'
  /** The account cannot pay for its gas. */
  | 'insufficientFunds'
  /** No answer, or none that says it: the bytes may have been taken. */
  | 'unclear'
  /** The node will not take these bytes. */
  | 'refused'

/**
 * The words of Geth, Reth, Nethermind, Besu, Erigon, anvil, OpenEthereum and
 * rollups; the first pattern that fits decides. Sequencers quote the words of
 * the node behind them, so the last patterns are the vaguest.
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

/** What a failure to send signed bytes means for them. */
export function classifySendFailure(failure: NodeFailure): SendStatus {
  const wording = wordings.find(([pattern]) => pattern.test(failure.words))
  if (wording) return wording[1]
  return isPassing(failure) ? 'unclear' : 'refused'
}
