import type { TransactionRecord } from '../../store/types.js'
import type { SettledPolicy } from '../model/types.js'
import { mostForeign } from './judgeNextNonce.js'
import { groupByNonce, newestOf } from './judgeNonces.js'
import {
  choosesNonce,
  type LaneState,
  type Noticed,
  nonceName,
  noticeAgain,
  windowKey,
} from './laneState.js'
import type { LaneView } from './readLane.js'
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
  lane: LaneState,
  { count, head }: Pick<LaneView, 'count' | 'head'>,
  { bumpAfter }: Pick<SettledPolicy, 'bumpAfter'>,
): Replacement[] {
  if (!choosesNonce(lane)) return []
  const waiting = groupByNonce(lane.open)
    .map(newestOf)
    .filter(({ nonce }) => nonce >= count)
  const lowest = waiting[0]?.nonce
  const since = lane.head?.nonce === lowest ? lane.head?.since : undefined
  const isStuck =
    since !== undefined && head.timestamp - since >= BigInt(bumpAfter)
  return waiting
    .flatMap((last): Replacement[] => {
      const { nonce, kind, hash, maxFeePerGas } = last
      if (lane.aside.isWaiting(nonceName('replace', nonce))) return []
      const ends = lane.windows.get(windowKey(last))
      if (kind !== 'release' && ends && head.timestamp >= ends[kind])
        return isResting(lane, 'filler') ? [] : [{ last, why: 'late' }]
      // We do not know the hash, so another could be sent beside it. That is
      // safe for fillers only: at most one of a nonce is mined.
      if (hash === undefined)
        return kind === 'release' && !isResting(lane, 'filler')
          ? [{ last, why: 'stuck' }]
          : []
      const isCheap = maxFeePerGas < (head.baseFeePerGas ?? 0n)
      // Raised once at once; a node that is never content waits like others.
      const isRefused = lane.underpriced.has(nonce) && last.bump === 0
      const isBehind = isRefused || (isStuck && (nonce === lowest || isCheap))
      return isBehind ? [{ last, why: 'stuck' }] : []
    })
    .slice(0, most)
}

/** Keeps in mind since when the lowest open nonce is that. */
export function watchHead(
  lane: LaneState,
  { count, head }: Pick<LaneView, 'count' | 'head'>,
): void {
  const lowest = lane.open.find(({ nonce }) => nonce >= count)
  if (!lowest) lane.head = undefined
  else if (lane.head?.nonce !== lowest.nonce)
    lane.head = { nonce: lowest.nonce, since: head.timestamp }
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
 * Nonces below `nextNonce` that neither the node nor the lane has anything for:
 * all later ones would wait behind them. Pure but for what it remembers.
 */
export function findGaps(
  lane: LaneState,
  { count, pendingCount }: Pick<LaneView, 'count' | 'pendingCount'>,
): Gaps {
  if (!choosesNonce(lane)) return { nonces: [], isWide: false }
  const used = new Set(lane.open.map(({ nonce }) => nonce))
  const first = Math.max(count, pendingCount)
  const end = lane.value.nextNonce
  const now = performance.now()
  const gaps = new Map<number, Noticed>()
  for (let nonce = first; nonce < end && gaps.size <= mostForeign; nonce++)
    if (!used.has(nonce))
      gaps.set(nonce, noticeAgain(lane.gaps.get(nonce), now))
  lane.gaps = gaps
  const nonces = [...gaps].flatMap(([nonce, { looks, since }]) =>
    looks > gapLooks && now - since >= gapTime ? nonce : [],
  )
  return { nonces, isWide: gaps.size > mostForeign }
}
