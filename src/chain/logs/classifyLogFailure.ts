import type { NodeFailure } from '../rpc/errors.js'

/** Why a node did not answer a log request. */
type LogFailureKind =
  | 'headBehind'
  | 'timeout'
  | 'rateLimit'
  | 'rangeTooWide'
  | 'tooManyResults'
  | 'unsupported'
  | 'fault'

export type LogFailure = {
  kind: LogFailureKind
  /**
   * Most blocks in one request, according to the node's text; 0 if it names no
   * number.
   */
  blocks?: bigint | undefined
}

/**
 * Providers word the same limits differently; the first pattern that fits
 * decides. A number in the text is the limit only where the pattern says so.
 */
const wordings: readonly (readonly [LogFailureKind, RegExp])[] = [
  [
    'headBehind',
    /beyond (the )?current head|out ?of ?range.*height|unknown block|\b(block|header)\b.*not found|blocks .*cannot be found|not available yet/i,
  ],
  [
    'tooManyResults',
    /more than [\d,]+ (results|logs)|max(imum)? (results|logs)|too many (logs|results)|response size|size exceeded/i,
  ],
  ['timeout', /time(d|-)? ?out|took too long|deadline exceeded/i],
  [
    'rangeTooWide',
    /range|blocks distance|at most [\d,]+k? blocks|too (wide|many blocks)|block limit/i,
  ],
  [
    'rateLimit',
    /rate limit|too many requests|request limit|capacity|throttl|quota/i,
  ],
  ['unsupported', /not (supported|available|found)|unsupported|not exist/i],
]

/** Finds the allowed number of blocks in a text. The last match is the best. */
const limitWording =
  /.*(?:limit of|limited to|up to|at most|max is|set to|distance:|limit:|exceeded:|range:|over|exceeds|range of|range) (?:an? )?(\d+)(k?)/i

/** Classifies a node's refusal of `eth_getLogs` by what to do next. */
export function classifyLogFailure(failure: NodeFailure): LogFailure {
  const kind = kindOf(failure)
  const { words } = failure
  const limit = kind === 'rangeTooWide' ? statedLimit(words) : undefined
  return { kind, blocks: statedRange(words) ?? limit }
}

function kindOf({ code, status, words }: NodeFailure): LogFailureKind {
  if (status === 429) return 'rateLimit'
  for (const [kind, pattern] of wordings) if (pattern.test(words)) return kind
  if (status === 413) return 'tooManyResults'
  const missing = code === -32601 || code === -32004 || status === 403
  return missing ? 'unsupported' : 'fault'
}

/**
 * Returns the number of blocks that the node's text allows; 0 if it names none.
 */
function statedLimit(words: string): bigint {
  const [, digits = '', thousand = ''] =
    limitWording.exec(words.replace(/(?<=\d)[, '](?=\d{3}\b)/g, '')) ?? []
  return BigInt(digits + thousand.replace(/k/i, '000'))
}

function statedRange(words: string): bigint | undefined {
  const [, first, last] =
    /\[\s*(0x[\da-f]+)\s*,\s*(0x[\da-f]+)\s*\]/i.exec(words) ??
    /range (\d+)\s*-\s*(\d+)/i.exec(words) ??
    []
  return first && last ? BigInt(last) - BigInt(first) + 1n : undefined
}
