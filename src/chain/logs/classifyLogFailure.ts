import { classifyFailure, type FailureKind } from '../rpc/classifyFailure.js'
import type { NodeFailure } from '../rpc/types.js'

/** The kinds of failure that a log request answers in a way of its own. */
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
   * Most blocks in one request, according to the node's text; 0 if it names no
   * number.
   */
  blocks?: bigint | undefined
}

/** Classifies a node's refusal of `eth_getLogs` by what to do next. */
export function classifyLogRefusal(failure: NodeFailure): LogFailure {
  const found: FailureKind = classifyFailure(failure)
  return { kind: kinds.find((kind) => kind === found) ?? 'fault' }
}

/** As {@link classifyLogRefusal}, with the limit that the node's text names. */
export function classifyLogFailure(failure: NodeFailure): LogFailure {
  const { kind } = classifyLogRefusal(failure)
  const { words } = failure
  const limit = kind === 'rangeTooWide' ? statedLimit(words) : undefined
  return { kind, blocks: statedRange(words) ?? limit }
}

/** Finds the allowed number of blocks in a text. The last match is the best. */
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
