import type { NodeFailure } from './types.js'

/** Why a request failed, which decides what to do next. */
export type FailureKind =
  /** The node did not answer: no connection, or not in time. */
  | 'unreachable'
  /** Too many requests: ask again later. */
  | 'rateLimit'
  /**
   * The request is over a limit. The node does not say whether of requests,
   * blocks or logs.
   */
  | 'limit'
  /** The server, or a gateway in front of the nodes, cannot answer now. */
  | 'unavailable'
  /** The node reported an internal error without a reason. */
  | 'internal'
  /**
   * The node stopped before it had the answer. It may have time for a smaller
   * request.
   */
  | 'timeout'
  /**
   * The node does not have the block yet, because it is behind other replicas.
   */
  | 'headBehind'
  /** The node has deleted the history that the request needs. */
  | 'pruned'
  /** The answer would contain too many logs, or too many bytes. */
  | 'tooManyResults'
  /** The request covers too many blocks. */
  | 'rangeTooWide'
  /** The endpoint does not serve this method, or this block tag. */
  | 'unsupported'
  /** The node does not understand the parameters. */
  | 'invalidParams'
  /** Anything else: a revert, or a refusal of this request. */
  | 'refused'

const temporary: readonly FailureKind[] = [
  'unreachable',
  'rateLimit',
  'limit',
  'unavailable',
  'internal',
  'timeout',
  'headBehind',
]

/** True when the same request may succeed later. */
export function isTemporary(failure: NodeFailure): boolean {
  return temporary.includes(classifyFailure(failure))
}

/**
 * Error codes of proxyd, the gateway in front of Base and other OP chains: no
 * healthy backend, a bad answer of a backend, or itself not healthy.
 */
const gatewayCodes = [-32011, -32013, -32018]

/** A row applies to a failure if the failure meets all of its conditions. */
type Row = readonly [
  FailureKind,
  {
    /** Lowest and highest HTTP status of a range. */
    status?: readonly [number, number]
    codes?: readonly number[]
    words?: RegExp
  },
]

/**
 * The first row that applies decides. Statuses and codes with only one meaning
 * come first, then error texts, then codes and statuses that nodes use for
 * several things. `docs/reads.md` has the same table.
 */
const rows: readonly Row[] = [
  // HTTP (RFC 9110, RFC 6585). proxyd, in front of Base and other OP chains,
  // adds a JSON-RPC error to 429, 500, 503 and 504.
  ['rateLimit', { status: [429, 429] }],
  ['timeout', { status: [408, 408] }],
  ['timeout', { status: [504, 504] }],
  ['unavailable', { status: [500, 599] }],
  ['unsupported', { status: [403, 403] }],

  // From here: codes that mean one thing, whatever the error text says.
  // Geth, Nethermind: pruned history (EIP-4444).
  ['pruned', { codes: [4444] }],
  // Geth, Reth, Erigon: execution reverted.
  ['refused', { codes: [3] }],
  // JSON-RPC 2.0: method not found. 403: the HTTP status, repeated as the code
  // of each call in a batch.
  ['unsupported', { codes: [-32601, 403] }],
  // 429: the HTTP status, repeated in the same way (Alchemy). proxyd: backend
  // over capacity.
  ['rateLimit', { codes: [429, -32012] }],
  ['unavailable', { codes: gatewayCodes }],
  // proxyd: block above the head that its backends agree on.
  ['headBehind', { codes: [-32019] }],

  // From here: error texts, and who sends them.
  // Geth, Erigon, Nethermind, Reth.
  [
    'pruned',
    {
      words:
        /missing trie node|\bprun(ed|ing)|history unavailable|state .*(not |un)available|historical state|archive/i,
    },
  ],
  ['refused', { words: /revert/i }],
  // Geth, Nethermind (-39001, -32000): the chain has no block of this tag.
  // Geth, Bor: the node has no receipts of this block.
  [
    'unsupported',
    {
      words:
        /\b(safe|finalized) ((block|header) not found|could not be found)|receipts length mismatch|pending receipts/i,
    },
  ],
  // Reth and Geth (-32602), Nethermind, Erigon, Polygon, Avalanche. Reth and
  // Nethermind say "invalid block range params" if `toBlock` is above the head.
  // Nethermind names a missing block by its bare number or hash.
  [
    'headBehind',
    {
      words:
        /(beyond|above|after|greater than|higher than|exceeds) (the )?((current|chain|last) )*(head|latest|accepted|current block)|invalid block range(?!.*(limit|max|exceed|wide|large|more|most))|out ?of ?range.*height|unknown block|\b(blocks?|header)\b.*(not found|(not|n't) (be found|exist))|^(\d+|0x\S*|latest|pending) could not be found|(could|can) ?not find (the )?(block|header)|not (yet available|available yet)/i,
    },
  ],
  // Infura, Reth, Ankr, Alchemy. Geth (-32003): the answer to a batch is full.
  [
    'tooManyResults',
    {
      words:
        /more than [\d,]+ (results|logs)|max(imum)? (results|logs)|too many (logs|results)|response size|size exceeded|response too large/i,
    },
  ],
  ['timeout', { words: /time(d|-)? ?out|took too long|deadline exceeded/i }],
  // Base, QuickNode, Alchemy, Infura, Coinbase, Chainstack, dRPC, Ankr, Reth.
  [
    'rangeTooWide',
    {
      words:
        /range|blocks distance|at most [\d,]+k? blocks|too (wide|many blocks)|block limit/i,
    },
  ],
  [
    'rateLimit',
    {
      words:
        /rate limit|too many requests|request limit|capacity|throttl|quota/i,
    },
  ],
  // proxyd (-32010), Geth while it indexes, sequencers with a full pool.
  [
    'unavailable',
    {
      words:
        /try again|temporar|unavailable|overloaded|pool is full|indexing is in progress|backend offline|no healthy/i,
    },
  ],

  // From here: what a code means if the error text says nothing.
  // EIP-1474: limit exceeded.
  ['limit', { codes: [-32005] }],
  // QuickNode, proxyd (-32016, -32017).
  ['rateLimit', { codes: [-32007, -32016, -32017] }],
  // Geth: timeout. EIP-1474: resource unavailable.
  ['timeout', { codes: [-32002] }],
  ['internal', { codes: [-32603] }],
  ['invalidParams', { codes: [-32602] }],
  ['tooManyResults', { status: [413, 413] }],
  // Method not supported (EIP-1474).
  ['unsupported', { codes: [-32004] }],
]

/**
 * True when a gateway answered instead of the node. The node may have carried
 * out the request nevertheless, so a transaction may have been sent.
 */
export function isOfGateway({ code = 0, status = 0 }: NodeFailure): boolean {
  return (
    status >= 500 || [408, 429].includes(status) || gatewayCodes.includes(code)
  )
}

export function classifyFailure(failure: NodeFailure): FailureKind {
  const { code, status = 0, words, data = '0x' } = failure
  // Revert data can only come from a contract. So treat the failure as a revert
  // (code 3), whatever code the node sent.
  const shown = data === '0x' ? code : 3
  const found = rows.find(
    ([, row]) =>
      (!row.status || (status >= row.status[0] && status <= row.status[1])) &&
      (!row.codes || row.codes.some((one) => one === shown)) &&
      (!row.words || row.words.test(words)),
  )
  if (found) return found[0]
  if (shown === undefined && status === 0) return 'unreachable'
  return unserved.test(words) ? 'unsupported' : 'refused'
}

/**
 * Error texts for a method that the endpoint does not serve. Used only together
 * with a code or status: without both, the text is about the connection ("host
 * not found").
 */
const unserved =
  /not (supported|available|found)|unsupported|not exist|forbidden/i
