import { classifyFailure, type FailureKind } from '../rpc/classifyFailure.js'
import type { NodeFailure } from '../rpc/types.js'

/**
 * Failures of log requests that need their own handling, for example a request
 * for fewer blocks. Every other failure is a `fault`.
 */
const kinds = [
  'headBehind',
  'timeout',
  'rateLimit',
  'pruned',
  'rangeTooWide',
  'tooManyResults',
  'unsupported',
] as const

export type LogFailure = {
  kind: (typeof kinds)[number] | 'fault'
  /**
   * Most blocks in one request, as the node's error text states; 0 or absent if
   * it states none.
   */
  blocks?: bigint | undefined
}

/**
 * Classifies a node's refusal of `eth_getLogs` by what the caller should do
 * next.
 */
export function classifyLogRefusal(failure: NodeFailure): LogFailure {
  const found: FailureKind = classifyFailure(failure)
  return { kind: kinds.find((kind) => kind === found) ?? 'fault' }
}

/**
 * Like {@link classifyLogRefusal}, and also returns the limit that the error
 * text states.
 */
export function classifyLogFailure(failure: NodeFailure): LogFailure {
  const { kind } = classifyLogRefusal(failure)
  const { words } = failure
  const limit = kind === 'rangeTooWide' ? statedLimit(words) : undefined
  return { kind, blocks: statedRange(words) ?? limit }
}

/**
 * Finds the allowed number of blocks in a node's error text. Takes the last
 * match, because the requested number comes first: "range 4000 exceeds 1024".
 */
const limitWording =
  /.*(?:limit of|limited to|up to|at most|max is|set to|distance:|limit:|exceeded:|range:|over|exceeds|range of|range) (?:an? )?(\d+)(k?)/i

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
