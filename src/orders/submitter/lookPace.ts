import type { BlockHead } from '../../chain/rpc/requestNode.js'

/** How often to look at a submitter's chain, and which looks to believe. */
export type LookPace = {
  /** Counts the looks. */
  readonly looks: number
  /** Looks in a row in which nothing happened. */
  readonly idle: number
  /** True when the chain mined some transactions while others were still signed. */
  readonly isQuick: boolean
  /** The account's count at the last look. */
  readonly count: number | undefined
  startLook(): void
  /**
   * Decides whether to rely on a look. A head far ahead of the last one may
   * belong to another network, and every window would seem to be over.
   *
   * @param now Unix seconds of this machine, for the first look.
   */
  believeHead(head: Pick<BlockHead, 'timestamp'>, now: bigint): boolean
  rememberCount(count: number): void
  rememberQuick(isQuick: boolean): void
  /**
   * Looks soon again if something happened, else later each time.
   *
   * @param idle the looks without news to count for this one.
   */
  rememberIdle(idle: number): void
  /** Chain time since which a nonce has been the lowest that waits. */
  waitsSince(nonce: number | undefined): bigint | undefined
  /** Keeps in mind since when the lowest waiting nonce is that. */
  watchLowest(nonce: number | undefined, timestamp: bigint): void
  /** Gives the lowest nonce its whole time again. */
  restartWait(): void
}

/**
 * Seconds by which a head may be ahead of the last one to be believed at once.
 */
const usualStep = 600n

/** Looks in a row after which we believe a head that is further ahead. */
const looksToBelieveHead = 3

export function openLookPace(): LookPace {
  let looks = 0
  let idle = 0
  let isQuick = false
  let count: number | undefined
  let headTime: bigint | undefined
  let aheadLooks = 0
  let lowest: { nonce: number; since: bigint } | undefined
  return {
    get looks() {
      return looks
    },
    get idle() {
      return idle
    },
    get isQuick() {
      return isQuick
    },
    get count() {
      return count
    },
    startLook: () => {
      looks++
    },
    believeHead: ({ timestamp }, now) => {
      const isAhead = timestamp > (headTime ?? now) + usualStep
      aheadLooks = isAhead ? aheadLooks + 1 : 0
      if (isAhead && aheadLooks < looksToBelieveHead) return false
      headTime = timestamp
      aheadLooks = 0
      return true
    },
    rememberCount: (seen) => {
      count = seen
    },
    rememberQuick: (quick) => {
      isQuick = quick
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
    restartWait: () => {
      lowest = undefined
    },
  }
}
