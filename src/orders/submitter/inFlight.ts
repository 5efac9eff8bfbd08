import type { Hash } from 'viem'
import type { AttemptRecord, TransactionRecord } from '../../store/types.js'
import { type AttemptEnds, endsOf } from '../model/endsOf.js'

/** The stored transactions of a submitter that are not settled. */
export type InFlight = {
  /** Sorted by account nonce and `bump`. */
  readonly rows: readonly TransactionRecord[]
  /** `performance.now()` when the rows were loaded. */
  readonly loadedAt: number
  /**
   * True when the account has code. Then only one transaction may be in flight.
   */
  readonly hasCode: boolean | undefined
  /**
   * Ends of the windows of the row's attempt, in Unix seconds of the chain;
   * `undefined` if not known.
   */
  endsOf(row: OfAttempt): AttemptEnds | undefined
  /** True when `endsOf` is not known for some row. */
  lacksEnds(): boolean
  load(rows: readonly TransactionRecord[], now: number): void
  /** Remembers `endsOf` for the transactions of an attempt. */
  rememberEnds(attempt: AttemptRecord): void
  rememberCode(hasCode: boolean): void
  /** True when the store says that the pending block showed the transaction. */
  isShown(hash: Hash): boolean
  rememberShown(hash: Hash): void
  add(rows: readonly TransactionRecord[]): void
  update(before: TransactionRecord, after: TransactionRecord): void
  remove(row: TransactionRecord): void
  /** Removes all rows of nonces at which nothing can happen any more. */
  close(groups: readonly (readonly TransactionRecord[])[]): void
}

/** The fields of a transaction that name its attempt. */
type OfAttempt = Pick<TransactionRecord, 'orderId' | 'attempt'>

const attemptKey = ({ orderId, attempt }: OfAttempt): string =>
  `${orderId}/${attempt}`

export function openInFlight(): InFlight {
  let rows: readonly TransactionRecord[] = []
  let loadedAt = 0
  let hasCode: boolean | undefined
  const ends = new Map<string, AttemptEnds>()
  const shown = new Set<Hash>()
  return {
    get rows() {
      return rows
    },
    get loadedAt() {
      return loadedAt
    },
    get hasCode() {
      return hasCode
    },
    endsOf: (row) => ends.get(attemptKey(row)),
    lacksEnds: () => rows.some((row) => !ends.has(attemptKey(row))),
    load: (loaded, now) => {
      rows = loaded
      loadedAt = now
    },
    rememberEnds: (attempt) => {
      const { orderId, number } = attempt
      ends.set(attemptKey({ orderId, attempt: number }), endsOf(attempt))
    },
    rememberCode: (isContract) => {
      hasCode = isContract
    },
    isShown: (hash) => shown.has(hash),
    rememberShown: (hash) => {
      shown.add(hash)
    },
    add: (added) => {
      rows = [...rows, ...added].sort(
        (one, other) => one.nonce - other.nonce || one.bump - other.bump,
      )
    },
    update: (before, after) => {
      rows = rows.map((row) => (row === before ? after : row))
    },
    remove: (removed) => {
      rows = rows.filter((row) => row !== removed)
    },
    close: (groups) => {
      const closed = new Set<number>()
      for (const group of groups) {
        const [first] = group
        if (!first) continue
        for (const { hash } of group) if (hash) shown.delete(hash)
        closed.add(first.nonce)
        ends.delete(attemptKey(first))
      }
      rows = rows.filter(({ nonce }) => !closed.has(nonce))
    },
  }
}

/** The transactions that we sent to the node, and its answers. */
export type Broadcasts = {
  /**
   * Most transactions that the node's pool takes, from the account's count on.
   */
  readonly admitted: number
  /** Resolves once the node has answered all requests of `handOver`. */
  readonly sending: Promise<unknown>
  /** Number of the poll that last sent bytes for a nonce. */
  sentAt(nonce: number): number | undefined
  /** True when another transaction should replace the one at this nonce. */
  isRefused(nonce: number): boolean
  /**
   * Remembers the poll that sent bytes for the nonces, or could not open them.
   */
  noteSent(nonces: readonly number[], look: number): void
  /**
   * Marks bytes for replacement: the node refused them, or their seal is
   * broken.
   */
  refuse(nonce: number): void
  /**
   * Removes the mark of `refuse`: a replacement is on its way, or there will be
   * none.
   */
  clearRefusal(nonce: number): void
  /**
   * Lowers `admitted` because the node's pool is full at this nonce. The bytes
   * are sent again once `admitted` covers them.
   */
  admitBelow(nonce: number, count: number): void
  /** Raises `admitted` by a quarter, for a node whose pool was full. */
  admitMore(): void
  /** Remembers requests that the node has not answered yet. */
  handOver(requests: readonly Promise<void>[]): void
  /** Forgets a nonce at which nothing can happen any more. */
  forget(nonce: number): void
}

export function openBroadcasts(): Broadcasts {
  let admitted = Number.POSITIVE_INFINITY
  let sending: Promise<unknown> = Promise.resolve()
  const sentAt = new Map<number, number>()
  const refused = new Set<number>()
  return {
    get admitted() {
      return admitted
    },
    get sending() {
      return sending
    },
    sentAt: (nonce) => sentAt.get(nonce),
    isRefused: (nonce) => refused.has(nonce),
    noteSent: (nonces, look) => {
      for (const nonce of nonces) sentAt.set(nonce, look)
    },
    refuse: (nonce) => {
      refused.add(nonce)
    },
    clearRefusal: (nonce) => {
      refused.delete(nonce)
    },
    admitBelow: (nonce, count) => {
      admitted = Math.max(1, Math.min(admitted, nonce - count))
      sentAt.set(nonce, Number.NEGATIVE_INFINITY)
    },
    admitMore: () => {
      admitted = Math.ceil(admitted * 1.25)
    },
    handOver: (requests) => {
      sending = Promise.all(requests)
      // Awaited later; without this handler an early failure is unhandled.
      sending.catch(() => undefined)
    },
    forget: (nonce) => {
      sentAt.delete(nonce)
      refused.delete(nonce)
    },
  }
}

export function groupByNonce(
  rows: readonly TransactionRecord[],
): (readonly [TransactionRecord, ...TransactionRecord[]])[] {
  const groups = new Map<number, [TransactionRecord, ...TransactionRecord[]]>()
  for (const row of rows) {
    const group = groups.get(row.nonce)
    if (group) group.push(row)
    else groups.set(row.nonce, [row])
  }
  return [...groups.values()]
}

/**
 * Returns the transaction with the highest `bump`, the last replacement at its
 * nonce. Pure.
 */
export function newestOf(
  rows: readonly [TransactionRecord, ...TransactionRecord[]],
): TransactionRecord {
  return rows.reduce((last, row) => (row.bump > last.bump ? row : last))
}

/**
 * The `bump` of the next transaction at a nonce. Counts also transactions that
 * are no longer in flight. Pure.
 */
export function nextBump(
  rows: readonly Pick<TransactionRecord, 'bump'>[],
): number {
  return rows.reduce((next, { bump }) => Math.max(next, bump + 1), 0)
}
