import type { TransactionRecord } from '../../store/types.js'
import type { SettledPolicy } from '../model/types.js'
import { mostForeign } from './judgeNextNonce.js'
import { groupByNonce, newestOf } from './judgeNonces.js'
import type { SubmitterView } from './readSubmitter.js'
import {
  choosesNonce,
  type Noticed,
  nonceName,
  noticeAgain,
  type SubmitterState,
  windowKey,
} from './submitterState.js'
import { isResting } from './walletRest.js'

/** A transaction another one has to take the place of. */
export type Replacement = {
  last: TransactionRecord
  /** `late`: its window is over. `stuck`: it does not get into a block. */
  why: 'late' | 'stuck'
}

/** Most that are replaced in one tick. */
const most = 20

/**
 * What is in the way: what can no longer succeed, the lowest transaction where
 * it has been that for long, and those behind it that pay no base fee. Pure.
 */
export function planReplacements(
  submitter: SubmitterState,
  { count, head }: Pick<SubmitterView, 'count' | 'head'>,
  { bumpAfter }: Pick<SettledPolicy, 'bumpAfter'>,
): Replacement[] {
  if (!choosesNonce(submitter)) return []
  const waiting = groupByNonce(submitter.inFlight)
    .map(newestOf)
    .filter(({ nonce }) => nonce >= count)
  const lowest = waiting[0]?.nonce
  const since =
    submitter.head?.nonce === lowest ? submitter.head?.since : undefined
  const isStuck =
    since !== undefined && head.timestamp - since >= BigInt(bumpAfter)
  return waiting
    .flatMap((last): Replacement[] => {
      const { nonce, kind, hash, maxFeePerGas } = last
      if (submitter.aside.isWaiting(nonceName('replace', nonce))) return []
      const ends = submitter.windows.get(windowKey(last))
      if (kind !== 'filler' && ends && head.timestamp >= ends[kind])
        return isResting(submitter, 'filler') ? [] : [{ last, why: 'late' }]
      // We do not know the hash, so another could be sent beside it. That is
      // safe for fillers only: at most one of a nonce is mined.
      if (hash === undefined)
        return kind === 'filler' && !isResting(submitter, 'filler')
          ? [{ last, why: 'stuck' }]
          : []
      const isCheap = maxFeePerGas < (head.baseFeePerGas ?? 0n)
      // Raised once at once; a node that is never content waits like others.
      const isRefused = submitter.underpriced.has(nonce) && last.bump === 0
      const isBehind = isRefused || (isStuck && (nonce === lowest || isCheap))
      return isBehind ? [{ last, why: 'stuck' }] : []
    })
    .slice(0, most)
}

/** Keeps in mind since when the lowest open nonce is that. */
export function watchHead(
  submitter: SubmitterState,
  { count, head }: Pick<SubmitterView, 'count' | 'head'>,
): void {
  const lowest = submitter.inFlight.find(({ nonce }) => nonce >= count)
  if (!lowest) submitter.head = undefined
  else if (submitter.head?.nonce !== lowest.nonce)
    submitter.head = { nonce: lowest.nonce, since: head.timestamp }
}

/** Looks and milliseconds after which an unused nonce below others is a gap. */
const gapLooks = 3
const gapTime = 1000

/** Nonces that have to be used before later ones can be mined. */
export type Gaps = {
  nonces: number[]
  /** True when there are too many to fill, so the node may be wrong. */
  isWide: boolean
}

/**
 * Nonces below `nextNonce` that neither the node nor the submitter has anything for:
 * all later ones would wait behind them. Pure but for what it remembers.
 */
export function findGaps(
  submitter: SubmitterState,
  { count, pendingCount }: Pick<SubmitterView, 'count' | 'pendingCount'>,
): Gaps {
  if (!choosesNonce(submitter)) return { nonces: [], isWide: false }
  const used = new Set(submitter.inFlight.map(({ nonce }) => nonce))
  const first = Math.max(count, pendingCount)
  const end = submitter.value.nextNonce
  const now = performance.now()
  const gaps = new Map<number, Noticed>()
  for (let nonce = first; nonce < end && gaps.size <= mostForeign; nonce++)
    if (!used.has(nonce))
      gaps.set(nonce, noticeAgain(submitter.gaps.get(nonce), now))
  submitter.gaps = gaps
  const nonces = [...gaps].flatMap(([nonce, { looks, since }]) =>
    looks > gapLooks && now - since >= gapTime ? nonce : [],
  )
  return { nonces, isWide: gaps.size > mostForeign }
}
