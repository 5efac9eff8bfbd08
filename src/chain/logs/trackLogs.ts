import type { ReadLog } from './types.js'

/** What happened to a log, or to the connection of the watch. */
export type LogEvent =
  | {
      type:
        | 'preconfirmed'
        | 'included'
        | 'safe'
        | 'finalized'
        /** A reorganization removed the block of the log. */
        | 'removed'
        /**
         * The log was pre-confirmed, but the following blocks do not include
         * it.
         */
        | 'dropped'
      log: ReadLog
    }
  /**
   * The connection was lost and is open again. All logs in these blocks were
   * read; pre-confirmed ones may have been missed.
   */
  | { type: 'gap'; fromBlock: bigint; toBlock: bigint }

/** The finalities that a log in a block can have, weakest first. */
export const finalities = ['included', 'safe', 'finalized'] as const
/** Finality of a log in a block, weakest first. */
export type SealedFinality = (typeof finalities)[number]

type Tracked = { log: ReadLog; finality: SealedFinality }

/**
 * Number of blocks within which a pre-confirmed log must get into a block.
 * Otherwise it is reported as `dropped`.
 */
const patience = 5n

/**
 * Turns logs into events, and emits each event once. Remembers the logs of a
 * block until they have the requested finality and no poll reads the block
 * again.
 */
export function createLogTracker(
  emit: (event: LogEvent) => void,
  finality: SealedFinality,
): LogTracker {
  const sealed = new Map<string, Tracked>()
  const byTransaction = new Map<string, Set<string>>()
  const preconfirmed = new Map<string, ReadLog[]>()
  const done = new Map<string, bigint>()
  let newest = -1n

  const forget = (key: string, { transactionHash }: ReadLog): boolean => {
    const keys = byTransaction.get(transactionHash)
    keys?.delete(key)
    if (keys?.size === 0) byTransaction.delete(transactionHash)
    return sealed.delete(key)
  }
  const remove = (log: ReadLog): void => {
    if (forget(sealedKey(log), log)) emit({ type: 'removed', log })
  }
  const include = (log: ReadLog): void => {
    const key = sealedKey(log)
    if (sealed.has(key) || done.has(key)) return
    const { transactionHash, blockHash } = log
    // A transaction is in only one block. If it is now in another, a
    // reorganization replaced the first.
    for (const other of [...(byTransaction.get(transactionHash) ?? [])]) {
      const tracked = sealed.get(other)
      if (tracked && tracked.log.blockHash !== blockHash) remove(tracked.log)
    }
    preconfirmed.delete(looseKey(log))
    sealed.set(key, { log, finality: 'included' })
    const keys = byTransaction.get(transactionHash)
    if (keys) keys.add(key)
    else byTransaction.set(transactionHash, new Set([key]))
    emit({ type: 'included', log })
  }
  const lift = (tracked: Tracked, to: SealedFinality): void => {
    const from = finalities.indexOf(tracked.finality) + 1
    for (const next of finalities.slice(from, finalities.indexOf(to) + 1)) {
      if (next === 'included') continue
      tracked.finality = next
      emit({ type: next, log: tracked.log })
    }
  }

  return {
    preconfirm(log) {
      const key = looseKey(log)
      const known = preconfirmed.get(key) ?? []
      if (log.blockNumber <= newest || known.some(isCopyOf(log))) return
      if (byTransaction.has(log.transactionHash)) return
      preconfirmed.set(key, [...known, log])
      emit({ type: 'preconfirmed', log })
    },
    include,
    remove,
    missing(logs, { first, last }) {
      const present = new Set(logs.map(sealedKey))
      return [...sealed.values()]
        .map(({ log }) => log)
        .filter(
          (log) =>
            log.blockNumber >= first &&
            log.blockNumber <= last &&
            !present.has(sealedKey(log)),
        )
    },
    raise(to, logs) {
      for (const log of logs) {
        const tracked = sealed.get(sealedKey(log))
        if (tracked) lift(tracked, to)
      }
    },
    settle(head, forgetBelow) {
      newest = head
      for (const [key, logs] of preconfirmed)
        if (logs.every((log) => head > log.blockNumber + patience)) {
          preconfirmed.delete(key)
          for (const log of logs) emit({ type: 'dropped', log })
        }
      for (const [key, { log, finality: reached }] of sealed)
        if (reached === finality && log.blockNumber < forgetBelow) {
          forget(key, log)
          done.set(key, log.blockNumber)
        }
      for (const [key, block] of done)
        if (block + 10_000n < forgetBelow) done.delete(key)
    },
    oldestBelow(wanted) {
      const rank = finalities.indexOf(wanted)
      let oldest: bigint | undefined
      for (const { log, finality: reached } of sealed.values())
        if (
          finalities.indexOf(reached) < rank &&
          (oldest === undefined || log.blockNumber < oldest)
        )
          oldest = log.blockNumber
      return oldest
    },
  }
}

export type LogTracker = {
  preconfirm(log: ReadLog): void
  include(log: ReadLog): void
  remove(log: ReadLog): void
  /** Returns the remembered logs of a range that are absent from `logs`. */
  missing(
    logs: readonly ReadLog[],
    range: { first: bigint; last: bigint },
  ): readonly ReadLog[]
  raise(finality: SealedFinality, logs: readonly ReadLog[]): void
  /**
   * Reports pre-confirmed logs as dropped if no block has included them in
   * time. Forgets logs that have the requested finality.
   */
  settle(head: bigint, forgetBelow: bigint): void
  /**
   * Block number of the oldest remembered log that has not reached this
   * finality.
   */
  oldestBelow(finality: SealedFinality): bigint | undefined
}

/**
 * Returns a function that tells whether two logs with equal content are the
 * same event. If the block or the transaction index differs, a reorganization
 * moved the event. If both are equal, only logs with the same log index are one
 * event: a transaction can emit equal logs.
 */
function isCopyOf(log: ReadLog): (other: ReadLog) => boolean {
  return ({ blockNumber, transactionIndex, logIndex }) =>
    blockNumber !== log.blockNumber ||
    transactionIndex !== log.transactionIndex ||
    logIndex === log.logIndex
}

/**
 * Key of a log in its block. After a reorganization, the same log has another
 * key.
 */
function sealedKey(log: ReadLog): string {
  return `${log.blockHash}${log.transactionHash}${log.logIndex}`
}

/**
 * Key of a log that stays the same when a reorganization moves the log to
 * another block.
 */
function looseKey(log: ReadLog): string {
  const { address, transactionHash, topics, data } = log
  return `${transactionHash}${address}${topics.join()}${data}`
}
