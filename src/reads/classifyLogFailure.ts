import type { NodeFailure } from './errors.js'

/** Why a node did not answer a log request. */
type LogFailureKind =
  | 'rangeTooWide'
  | 'tooManyResults'
  | 'timeout'
  | 'headBehind'
  | 'rateLimit'
  | 'unsupported'
  | 'fault'

export type LogFailure = {
  kind: LogFailureKind
  /** Blocks the node allows in one request, inclusive, where it says so. */
  limit?: bigint
  /** A range the node suggests. */
  suggested?: { first: bigint; last: bigint }
}

/**
 * Providers word the same limits differently; the first pattern that fits
 * decides. A number in the text is the limit only where the pattern says so.
 */
const wordings: readonly (readonly [LogFailureKind, RegExp])[] = [
  [
    'headBehind',
    /beyond (the )?current head|out ?of ?range.*height|unknown block|header not found/i,
  ],
  [
    'tooManyResults',
    /more than [\d,]+ (results|logs)|max(imum)? (results|logs)|too many (logs|results)|response size|size exceeded/i,
  ],
  ['timeout', /time(d|-)? ?out|took too long|deadline exceeded/i],
  [
    'rangeTooWide',
    /range|blocks distance|at most [\d,]+k? blocks|too wide|block limit/i,
  ],
  [
    'rateLimit',
    /rate limit|too many requests|request limit|capacity|throttl|quota/i,
  ],
  ['unsupported', /not (supported|available|found)|unsupported|not exist/i],
]

/** Where a text names the number of blocks it allows, best first. */
const limitWordings: readonly RegExp[] = [
  /limit of ([\d,]+)(k?)/i,
  /(?:limited to|up to|at most|max is|distance:|range:|over|range) (?:a |an )?([\d,]+)(k?)/i,
]

/** Sorts a node's refusal of `eth_getLogs` by what can be done about it. */
export function classifyLogFailure(failure: NodeFailure): LogFailure {
  const kind = kindOf(failure)
  const suggested = statedRange(failure.words)
  const limit = kind === 'rangeTooWide' ? statedLimit(failure.words) : undefined
  return {
    kind,
    ...(limit === undefined ? {} : { limit }),
    ...(suggested === undefined ? {} : { suggested }),
  }
}

function kindOf({ code, status, words }: NodeFailure): LogFailureKind {
  if (status === 429) return 'rateLimit'
  for (const [kind, pattern] of wordings) if (pattern.test(words)) return kind
  if (status === 413) return 'tooManyResults'
  const missing = code === -32601 || code === -32004 || status === 403
  return missing ? 'unsupported' : 'fault'
}

function statedLimit(words: string): bigint | undefined {
  for (const pattern of limitWordings) {
    const [, digits, thousand] = pattern.exec(words) ?? []
    const limit = BigInt(digits?.replaceAll(',', '') || 0)
    if (limit > 0n) return thousand ? limit * 1000n : limit
  }
  return undefined
}

function statedRange(
  words: string,
): { first: bigint; last: bigint } | undefined {
  const [, first, last] =
    /\[\s*(0x[\da-f]+)\s*,\s*(0x[\da-f]+)\s*\]/i.exec(words) ??
    /range (\d+)\s*-\s*(\d+)/i.exec(words) ??
    []
  return first && last
    ? { first: BigInt(first), last: BigInt(last) }
    : undefined
}
