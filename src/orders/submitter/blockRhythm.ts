import type { BlockHead } from '../../chain/rpc/requestNode.js'

/** When the blocks of a chain come. */
export type BlockRhythm = {
  /** @param now `performance.now()` when a poll showed the block. */
  note(head: Pick<BlockHead, 'number' | 'timestamp'>, now: number): void
  /**
   * Milliseconds until so many more blocks have come; 0 while they are late.
   * `undefined` unless the last blocks came at a steady pace.
   */
  untilMore(blocks: number, now: number): number | undefined
}

type SeenHead = { number: bigint; timestamp: bigint; at: number }

/** Number of seen blocks to remember. */
const most = 8

/** Fewest seen blocks, and fewest blocks between them, that show a pace. */
const enough = 3

/** Milliseconds. Timestamps in whole seconds do not show a faster pace. */
const fastest = 1000

/** Milliseconds to wait after a block is due, so that the node has it. */
const margin = 20

/**
 * Learns when blocks come from the newest blocks that polls show.
 *
 * A chain that mines on demand is not steady, even if its timestamps are: its
 * blocks come faster than these say.
 */
export function learnRhythm(): BlockRhythm {
  let heads: readonly SeenHead[] = []
  return {
    note: ({ number, timestamp }, at) => {
      const last = heads.at(-1)
      if (last?.number === number && last.timestamp === timestamp) return
      const seen = { number, timestamp, at }
      // After a reorganization or a jump in time, it learns from the start.
      const isNext = last && last.number < number && last.timestamp < timestamp
      heads = isNext ? [...heads, seen].slice(-most) : [seen]
    },
    untilMore: (more, now) => {
      const [first, last] = [heads[0], heads.at(-1)]
      if (!first || !last || heads.length < enough) return undefined
      const blocks = last.number - first.number
      const seconds = last.timestamp - first.timestamp
      const isSteady = heads.every(
        ({ number, timestamp }) =>
          (timestamp - first.timestamp) * blocks ===
          (number - first.number) * seconds,
      )
      const period = ms(seconds) / Number(blocks)
      // The first may have been seen a block late.
      const isReal = last.at - first.at >= period * (Number(blocks) - 1.5)
      if (blocks < enough || period < fastest) return undefined
      if (!isSteady || !isReal) return undefined
      // The block that was seen soonest after its time shows when to look.
      const delays = heads.map(({ at, timestamp }) => at - ms(timestamp))
      const delay = Math.min(...delays) + margin
      return Math.max(0, ms(last.timestamp) + more * period + delay - now)
    },
  }
}

const ms = (seconds: bigint): number => 1000 * Number(seconds)
