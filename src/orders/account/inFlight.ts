import type { Hash } from 'viem'
import { inTime } from '../../core/wait.js'
import { movementsOf } from '../../store/movements.js'
import type {
  AttemptRecord,
  Movement,
  TransactionRecord,
} from '../../store/types.js'
import { type AttemptEnds, endsOf } from '../model/endsOf.js'

/** The stored transactions of a submitter that are not settled yet. */
export type InFlight = {
  /** Sorted by account nonce and `bump`. */
  readonly rows: readonly TransactionRecord[]
  /** `performance.now()` when the rows were loaded. */
  readonly loadedAt: number
  /**
   * True when the account has code: it delegates (EIP-7702). Nodes then accept
   * few pending transactions of it.
   */
  readonly hasCode: boolean | undefined
  /** True when the code is to be read again, because it may have changed. */
  isCodeOld(): boolean
  /**
   * The latest ends of the windows of the payments that a transaction carries,
   * in Unix seconds of the chain: from then on, it does nothing. `undefined` if
   * it carries none, or they were not all loaded.
   */
  endsOf(row: Pick<TransactionRecord, 'movements'>): AttemptEnds | undefined
  /** True when the ends of some payment in flight were not loaded. */
  lacksEnds(): boolean
  load(rows: readonly TransactionRecord[], now: number): void
  /** Keeps the ends of the attempt's windows, for `endsOf`. */
  rememberEnds(attempt: AttemptRecord): void
  rememberCode(hasCode: boolean): void
  /** True when it is stored that the pending block showed this transaction. */
  isShown(hash: Hash): boolean
  rememberShown(hash: Hash): void
  add(rows: readonly TransactionRecord[]): void
  update(before: TransactionRecord, after: TransactionRecord): void
  remove(row: TransactionRecord): void
  /** Removes all rows of account nonces at which nothing more can happen. */
  close(groups: readonly (readonly TransactionRecord[])[]): void
}

/** Milliseconds after which the account's code is read again. */
const codeAge = 60_000

const attemptKey = ({ orderId, attempt }: Movement): string =>
  `${orderId}/${attempt}`

export function openInFlight(): InFlight {
  let rows: readonly TransactionRecord[] = []
  let loadedAt = 0
  let hasCode: boolean | undefined
  let codeReadAt = Number.NEGATIVE_INFINITY
  const ends = new Map<string, AttemptEnds>()
  const shown = new Set<Hash>()
  const keepRows = (kept: readonly TransactionRecord[]): void => {
    rows = kept
    const attempts = new Set(movementsOf(rows).map(attemptKey))
    for (const key of ends.keys()) if (!attempts.has(key)) ends.delete(key)
    const hashes = new Set(rows.map(({ hash }) => hash))
    for (const hash of shown) if (!hashes.has(hash)) shown.delete(hash)
  }
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
    isCodeOld: () => performance.now() - codeReadAt >= codeAge,
    endsOf: ({ movements }) => {
      const known = movements.flatMap((one) => ends.get(attemptKey(one)) ?? [])
      return known.length === movements.length ? lastOf(known) : undefined
    },
    lacksEnds: () =>
      movementsOf(rows).some((one) => !ends.has(attemptKey(one))),
    load: (loaded, now) => {
      keepRows(loaded)
      loadedAt = now
    },
    rememberEnds: (attempt) => {
      const { orderId, number } = attempt
      ends.set(attemptKey({ orderId, attempt: number }), endsOf(attempt))
    },
    rememberCode: (isContract) => {
      hasCode = isContract
      codeReadAt = performance.now()
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
      keepRows(rows.filter((row) => row !== removed))
    },
    close: (groups) => {
      const closed = new Set(groups.flatMap(([row]) => row?.nonce ?? []))
      keepRows(rows.filter(({ nonce }) => !closed.has(nonce)))
    },
  }
}

function lastOf(all: readonly AttemptEnds[]): AttemptEnds | undefined {
  const [first, ...others] = all
  return first && others.reduce(later, first)
}

const later = (one: AttemptEnds, other: AttemptEnds): AttemptEnds => ({
  capture: one.capture > other.capture ? one.capture : other.capture,
  cancel: one.cancel > other.cancel ? one.cancel : other.cancel,
})

/** The transactions that we sent to the node, and the node's answers. */
export type Broadcasts = {
  /**
   * Most transactions that the node's pool accepts, counted from the account's
   * transaction count.
   */
  readonly admitted: number
  /**
   * Resolves once the node has answered what was sent. Ignores a request that
   * the node has had for longer than this many milliseconds: its bytes are on
   * record, and are sent again like any that the node lost.
   * @default 100
   */
  answered(patience?: number | undefined): Promise<void>
  /**
   * Milliseconds until all requests without an answer are older than this; 0 if
   * they are. Ignores bytes that were sent before.
   */
  untilOlder(milliseconds: number): number
  /** Number of the poll that last sent bytes for a nonce. */
  sentAt(nonce: number): number | undefined
  /**
   * True when the transaction at this nonce should be replaced by another one.
   */
  isRefused(nonce: number): boolean
  /**
   * Records that this poll sent the bytes for these nonces, or could not
   * decrypt them.
   */
  noteSent(nonces: readonly number[], look: number): void
  /**
   * Marks the bytes at a nonce for replacement: the node refused them, or they
   * cannot be decrypted.
   */
  refuse(nonce: number): void
  /**
   * Removes the mark of `refuse`: the replacement is being sent, or there will
   * be none.
   */
  clearRefusal(nonce: number): void
  /**
   * Lowers `admitted`, because the node's pool is full at this nonce. The bytes
   * are sent again once `admitted` includes the nonce.
   */
  admitBelow(nonce: number, count: number): void
  /** Raises `admitted` by a quarter, after the node's pool was full. */
  admitMore(): void
  /** Keeps a request until the node answers it, for `answered`. */
  watch(sending: Promise<void>, isFirst: boolean): void
  /** Forgets an account nonce at which nothing more can happen. */
  forget(nonce: number): void
}

/**
 * Milliseconds that a poll waits for the node's answer to a send. The answer
 * saves polls and decides about replacements, but no poll needs it.
 */
const usualPatience = 100

export function openBroadcasts(): Broadcasts {
  let admitted = Number.POSITIVE_INFINITY
  const open = new Map<Promise<void>, { since: number; isFirst: boolean }>()
  const sentAt = new Map<number, number>()
  const refused = new Set<number>()
  return {
    get admitted() {
      return admitted
    },
    answered: async (patience = usualPatience) => {
      const now = performance.now()
      const waits = [...open].map(([sending, { since }]) => {
        const rest = since + patience - now
        return rest > 0 ? inTime(sending, rest, () => undefined) : undefined
      })
      await Promise.all(waits)
    },
    untilOlder: (milliseconds) => {
      const firsts = [...open.values()].filter(({ isFirst }) => isFirst)
      const latest = Math.max(...firsts.map(({ since }) => since))
      return Math.max(0, latest + milliseconds - performance.now())
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
    watch: (sending, isFirst) => {
      const close = () => {
        open.delete(sending)
      }
      open.set(sending, { since: performance.now(), isFirst })
      sending.then(close, close)
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
 * Returns the transaction with the highest `bump`: the last replacement at its
 * nonce.
 */
export function newestOf(
  rows: readonly [TransactionRecord, ...TransactionRecord[]],
): TransactionRecord {
  return rows.reduce((last, row) => (row.bump > last.bump ? row : last))
}

/**
 * Returns the `bump` (number of earlier transactions at the same nonce) of the
 * next transaction. Transactions that are no longer in flight count too.
 */
export function nextBump(
  rows: readonly Pick<TransactionRecord, 'bump'>[],
): number {
  return rows.reduce((next, { bump }) => Math.max(next, bump + 1), 0)
}
