import type { AttemptRecord, TransactionRecord } from '../../store/types.js'
import { type AttemptEnds, endsOf } from '../model/endsOf.js'

/** The transactions of a submitter that are on record and not settled. */
export type InFlight = {
  /** By nonce and bump. */
  readonly rows: readonly TransactionRecord[]
  /** When the rows were loaded, in milliseconds of `performance`. */
  readonly loadedAt: number
  /** True when an account with code sends; it has one transaction in flight. */
  readonly hasCode: boolean | undefined
  /** When a transaction comes too late, as far as it is known. */
  endsOf(row: OfAttempt): AttemptEnds | undefined
  /** True when `endsOf` is not known for all rows. */
  lacksEnds(): boolean
  /** Starts again from what the store has. */
  load(rows: readonly TransactionRecord[], now: number): void
  /** Remembers until when the transactions of an attempt can succeed. */
  rememberEnds(attempt: AttemptRecord): void
  rememberCode(hasCode: boolean): void
  /** Adds transactions that were just stored. */
  add(rows: readonly TransactionRecord[]): void
  /** Replaces a row that was written again. */
  update(before: TransactionRecord, after: TransactionRecord): void
  /** Removes a row that was not sent. */
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
      for (const [first] of groups) {
        if (!first) continue
        closed.add(first.nonce)
        ends.delete(attemptKey(first))
      }
      rows = rows.filter(({ nonce }) => !closed.has(nonce))
    },
  }
}

/** What the node was given of a submitter's transactions, and what it said. */
export type Broadcasts = {
  /** Nonces the node is known to admit beyond the account's count. */
  readonly admitted: number
  /** What the node has been given and not answered yet. */
  readonly sending: Promise<unknown>
  /** The look at which bytes were last sent for a nonce. */
  sentAt(nonce: number): number | undefined
  /** True when another transaction should take the place of these bytes. */
  isRefused(nonce: number): boolean
  /** Remembers the look at which bytes are sent, or would have been. */
  noteSent(nonces: readonly number[], look: number): void
  /** The node or a broken seal refused the bytes: they need a replacement. */
  refuse(nonce: number): void
  /** A replacement is on its way, or there will be none. */
  clearRefusal(nonce: number): void
  /** The node has no room at this nonce: send it again, and no more for now. */
  admitBelow(nonce: number, count: number): void
  /** Offers a little more to a node that had no room. */
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

/** Transactions of one nonce after another. Pure. */
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

/** The one that counts: the last in the place of the others. Pure. */
export function newestOf(
  rows: readonly [TransactionRecord, ...TransactionRecord[]],
): TransactionRecord {
  return rows.reduce((last, row) => (row.bump > last.bump ? row : last))
}

/** The bump of the next transaction at a nonce; closed rows count too. Pure. */
export function nextBump(
  rows: readonly Pick<TransactionRecord, 'bump'>[],
): number {
  return rows.reduce((next, { bump }) => Math.max(next, bump + 1), 0)
}
