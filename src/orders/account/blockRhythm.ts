import type { BlockHead } from '../../chain/rpc/requestNode.js'

/** Predicts when a chain's next blocks come. */
export type BlockRhythm = {
  /**
   * Records a block.
   * @param now `performance.now()` when a poll showed the block.
   */
  note(head: Pick<BlockHead, 'number' | 'timestamp'>, now: number): void
  /**
   * Milliseconds until this many more blocks have come; 0 if they are late.
   * `undefined` if the last blocks did not come at a steady pace.
   */
  untilMore(blocks: number, now: number): number | undefined
}

type SeenHead = { number: bigint; timestamp: bigint; at: number }

/** Number of last blocks to remember. */
const most = 8

/**
 * Fewest seen blocks, and fewest blocks between first and last, that show a
 * pace.
 */
const enough = 3

/**
 * Milliseconds. Block timestamps are in whole seconds, so they cannot show a
 * faster pace.
 */
const fastest = 1000

/**
 * Milliseconds to wait after a block is due, so that the node has received it.
 */
const margin = 20

/**
 * Learns at which pace blocks come, from the newest blocks that polls find. A
 * chain that mines a block for each transaction is not steady, even if its
 * timestamps look so: its blocks come faster than the timestamps say.
 */
export function learnRhythm(): BlockRhythm {
  let heads: readonly SeenHead[] = []
  return {
    note: ({ number, timestamp }, at) => {
      const last = heads.at(-1)
      if (last?.number === number && last.timestamp === timestamp) return
      const seen = { number, timestamp, at }
      // After a reorganization or a jump in time, forget the earlier blocks.
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
      // Check the real time too. It may be shorter by a block, because the
      // first block may have been seen late.
      const isReal = last.at - first.at >= period * (Number(blocks) - 1.5)
      if (blocks < enough || period < fastest) return undefined
      if (!isSteady || !isReal) return undefined
      // Poll with the smallest delay that any block had between its timestamp
      // and its first sight.
      const delays = heads.map(({ at, timestamp }) => at - ms(timestamp))
      const delay = Math.min(...delays) + margin
      return Math.max(0, ms(last.timestamp) + more * period + delay - now)
    },
  }
}

const ms = (seconds: bigint): number => 1000 * Number(seconds)
