import type { BlockHead } from '../../chain/rpc/requestNode.js'

/** How often to look at a submitter's chain, and which looks to believe. */
export type LookPace = {
  /** Counts the looks. */
  readonly looks: number
  /** Number of looks in a row without news. */
  readonly idle: number
  /**
   * True when the chain mined some transactions while we still signed others.
   */
  readonly isQuick: boolean
  /**
   * True right after a look that sent, on a chain that mined what was sent last
   * before the next look.
   */
  readonly expectsMined: boolean
  /** The account's count at the last look. */
  readonly count: number | undefined
  startLook(): void
  /**
   * Decides whether to rely on a look. A head far ahead of the last one may
   * belong to another network, by whose time every window would be over.
   *
   * @param now Unix seconds of this machine, for the first look.
   */
  believeHead(head: Pick<BlockHead, 'timestamp'>, now: bigint): boolean
  rememberCount(count: number): void
  rememberQuick(isQuick: boolean): void
  /** Remembers whether a look sent transactions, and whether it settled any. */
  rememberMined(look: { sent: boolean; settled: boolean }): void
  /**
   * Sets `idle`. The more idle looks, the longer the pause until the next one.
   *
   * @param idle number of looks in a row without news.
   */
  rememberIdle(idle: number): void
  /**
   * Unix seconds of the chain since when the nonce has been the lowest that
   * waits; `undefined` if it is not.
   */
  waitsSince(nonce: number | undefined): bigint | undefined
  /** Remembers since when this nonce has been the lowest that waits. */
  watchLowest(nonce: number | undefined, timestamp: bigint): void
  /** Restarts the time of the lowest nonce. */
  restartWait(): void
}

/**
 * Seconds. We believe a head at once if it is at most this far ahead of the
 * last one.
 */
const usualStep = 600n

/** Number of looks in a row after which we believe a head further ahead. */
const looksToBelieveHead = 3

export function openLookPace(): LookPace {
  let looks = 0
  let idle = 0
  let isQuick = false
  let hasSent = false
  let isMinedAtOnce = false
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
    get expectsMined() {
      return hasSent && isMinedAtOnce
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
    rememberMined: ({ sent, settled }) => {
      // Only the first look after a transaction was sent tells.
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
    restartWait: () => {
      lowest = undefined
    },
  }
}
