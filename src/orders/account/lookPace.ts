import type { BlockHead } from '../../chain/rpc/requestNode.js'
import { type BlockRhythm, learnRhythm } from './blockRhythm.js'

/**
 * Decides how often to poll a submitter's chain, and whether to trust the
 * newest block that a poll finds.
 */
export type LookPace = {
  readonly looks: number
  readonly idle: number
  /**
   * True after many polls without news: then we poll less often, and ask less.
   */
  readonly isPatient: boolean
  /**
   * True when transactions were mined while we still signed others, so the
   * chain is faster than we are.
   */
  readonly isQuick: boolean
  /**
   * True when the last poll sent transactions, and those sent before were
   * already mined by the following poll. The new ones may be mined as fast.
   */
  readonly expectsMined: boolean
  readonly count: number | undefined
  /** Time, in Unix seconds, of the last block that we trusted. */
  readonly time: bigint | undefined
  /** Milliseconds since we saw that block. */
  readonly headAge: number
  /**
   * Milliseconds until the next block to wait for, if blocks come at a steady
   * pace. While `isPatient`, that is every second block, unless `isSoon`.
   */
  untilBlock(isSoon?: boolean | undefined): number | undefined
  /**
   * Milliseconds until the chain's time is `due` (Unix seconds), if its clock
   * runs like ours; `undefined` before the first block.
   */
  untilTime(due: bigint): number | undefined
  startLook(): void
  /** True when the block's time is far ahead of the last one's. */
  isFarAhead: BelieveHead
  /**
   * True when the block's time is far behind this machine's clock, and behind
   * the last block that we trusted. The node may be restored to an older state,
   * and lack later payments.
   * @param stored time of a block in Unix seconds, to compare with before we
   * have trusted one.
   */
  isFarBehind(
    head: Pick<BlockHead, 'number' | 'timestamp'>,
    now: bigint,
    stored?: number | undefined,
  ): boolean
  /**
   * Decides whether to trust the newest block. If its time is far ahead of the
   * last one's, it may be from another network, and by its time all payments
   * would have expired.
   */
  believeHead: BelieveHead
  rememberCount(count: number): void
  rememberQuick(isQuick: boolean): void
  /** Records whether a poll sent transactions, and whether it settled any. */
  rememberMined(look: { sent: boolean; settled: boolean }): void
  /**
   * Records the number of polls in a row without news. The more, the longer the
   * pause until the next poll.
   */
  rememberIdle(idle: number): void
  /**
   * Chain time, in Unix seconds, since when this account nonce has been the
   * lowest in flight; `undefined` if another nonce is the lowest.
   */
  waitsSince(nonce: number | undefined): bigint | undefined
  /** Records since when this account nonce has been the lowest in flight. */
  watchLowest(nonce: number | undefined, timestamp: bigint): void
  /** Counts the time in flight of the lowest account nonce from now again. */
  restartWait(timestamp: bigint): void
}

/** @param now Unix seconds by this machine's clock, for the first poll. */
type BelieveHead = (
  head: Pick<BlockHead, 'number' | 'timestamp'>,
  now: bigint,
) => boolean

/**
 * Seconds. A block is trusted at once if its time is at most this far from the
 * last one's.
 */
const usualStep = 600n

/**
 * Number of polls in a row that must find a time further ahead before it is
 * trusted.
 */
const looksToBelieveHead = 3

/** Number of polls in a row without news after which we are patient. */
const patient = 4

export function openLookPace(): LookPace {
  let looks = 0
  let idle = 0
  let isQuick = false
  let hasSent = false
  let isMinedAtOnce = false
  let count: number | undefined
  let headTime: bigint | undefined
  let headAt = Number.NEGATIVE_INFINITY
  const rhythm: BlockRhythm = learnRhythm()
  let aheadLooks = 0
  let lowest: { nonce: number; since: bigint } | undefined
  const isPatient = () => idle > patient
  const isFarAhead: BelieveHead = ({ timestamp }, now) =>
    timestamp > (headTime ?? now) + usualStep
  return {
    isFarAhead,
    isFarBehind: ({ timestamp }, now, stored) =>
      timestamp + usualStep < (headTime ?? stored ?? timestamp) &&
      timestamp + usualStep < now,
    get looks() {
      return looks
    },
    get idle() {
      return idle
    },
    get isPatient() {
      return isPatient()
    },
    get isQuick() {
      return isQuick
    },
    get expectsMined() {
      return hasSent && isMinedAtOnce
    },
    get count() {
      return count
    },
    get time() {
      return headTime
    },
    get headAge() {
      return performance.now() - headAt
    },
    untilBlock: (isSoon) =>
      rhythm.untilMore(isPatient() && !isSoon ? 2 : 1, performance.now()),
    untilTime: (due) =>
      headTime === undefined
        ? undefined
        : 1000 * Number(due - headTime) - (performance.now() - headAt),
    startLook: () => {
      looks++
    },
    believeHead: (head, now) => {
      const isAhead = isFarAhead(head, now)
      aheadLooks = isAhead ? aheadLooks + 1 : 0
      if (isAhead && aheadLooks < looksToBelieveHead) return false
      headTime = head.timestamp
      headAt = performance.now()
      rhythm.note(head, headAt)
      aheadLooks = 0
      return true
    },
    rememberCount: (seen) => {
      count = seen
    },
    rememberQuick: (quick) => {
      isQuick = quick
    },
    rememberMined: ({ sent, settled }) => {
      // Only the first poll after sending shows how fast the chain mines.
      if (hasSent) isMinedAtOnce = settled
      hasSent = sent
    },
    rememberIdle: (inARow) => {
      idle = inARow
    },
    waitsSince: (nonce) =>
      lowest?.nonce === nonce ? lowest?.since : undefined,
    watchLowest: (nonce, since) => {
      if (nonce === undefined) lowest = undefined
      else if (lowest?.nonce !== nonce) lowest = { nonce, since }
    },
    restartWait: (since) => {
      lowest &&= { ...lowest, since }
    },
  }
}
