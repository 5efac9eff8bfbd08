import { CaptureKeyError } from '../../batches/keys/errors.js'
import { CountersignError } from '../../core/CountersignError.js'
import type { Observation } from '../../core/observeFailure.js'
import { observeFailure } from '../../core/observeFailure.js'
import {
  DuplicateRecordError,
  LeaseLostError,
  StaleRecordError,
  StoreError,
} from '../../store/errors.js'
import type { Lease, StoreReader } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'

/**
 * Work of a loop that concerns no single order, by its name in the list of
 * failures.
 */
export type TaskName =
  | 'submitter'
  | 'batches'
  | 'captureKeys'
  | 'watch'
  | 'head'
  | 'finality'
  | 'reorganizations'
  | 'expiry'
  | 'drafts'
  | 'reconciliation'
  | 'fulfilment'
  | 'finalityRaised'
  | 'refunds'
  | 'charges'
  | 'schedule'

/** Why some work failed and waits for its next try, and since when. */
export type AsideEntry = {
  /** The name of the error, such as `NodeError`. */
  reason: string
  /** Unix milliseconds of the first failure since the work last succeeded. */
  since: bigint
}

/**
 * List of failed work of a loop. Each entry waits for its next try, while the
 * loop continues. An entry's name is an order's id, or the name of a part of
 * the loop.
 */
export type Aside = {
  /**
   * Makes failed work wait for its next try, and reports the failure; that of a
   * capture key once, however many orders it holds up.
   * @returns milliseconds until the next try; they double with each failure in
   * a row, up to 30 seconds.
   */
  put(name: string, error: unknown, orderId?: string | undefined): number
  /**
   * True while the work waits for its next try.
   * @param longest ignores pauses that are longer than this many milliseconds.
   */
  isWaiting(name: string, longest?: number | undefined): boolean
  /** The name of the work's last error; `undefined` if it did not fail. */
  reasonOf(name: string): string | undefined
  /** Number of entries, including those whose next try is due. */
  size(): number
  /** True while work that failed few times is to be tried again soon. */
  isTrying(): boolean
  /** Removes the entry of work that succeeded or is no longer needed. */
  clear(name: string): void
  /** Removes all entries, because another process does this work now. */
  clearAll(): void
  /** Stores the entries if they changed, so that `health` shows them. */
  save(lease: Lease | undefined): Promise<void>
}

type StoredEntry = { reason: string; since: string }

type Waiting = AsideEntry & {
  tries: number
  /** Length of the pause in milliseconds, from the failure to `until`. */
  pause: number
  /**
   * End of the pause as a time of `performance.now()`, because the wall clock
   * may be set back.
   */
  until: number
}

/**
 * Makes work wait for its next try after a node, a wallet or a signer failed.
 * @throws the error itself if the store failed or another process wrote the
 * same rows. The caller must then load those rows again.
 */
export function putAside<part>(
  aside: { put(name: string, error: unknown, part?: part | undefined): number },
  name: string,
  error: unknown,
  part?: part | undefined,
): void {
  if (isStoreFailure(error)) throw error
  aside.put(name, error, part)
}

/**
 * True for errors of the store. An error of a foreign class may come from the
 * database.
 */
function isStoreFailure(error: unknown): boolean {
  return (
    !(error instanceof CountersignError) ||
    error instanceof StoreError ||
    error instanceof StaleRecordError ||
    error instanceof LeaseLostError ||
    error instanceof DuplicateRecordError
  )
}

const shortest = 100
const longestPause = 30_000

/** Longest pause, in milliseconds, after which work is tried again soon. */
const soon = 2_000

/** Most entries that `health` shows for one submitter or destination. */
const mostShown = 100

/** Creates an empty list of failed work. */
export function openAside(
  context: Pick<OrdersContext, 'store' | 'observe' | 'now'>,
  {
    key,
    observed,
    about,
  }: {
    /** Key under which the list is stored. */
    key: string
    /** Name under which failures are reported to `observe`. */
    observed: `${string}.failed`
    about: Observation['attributes']
  },
): Aside {
  const waiting = new Map<string, Waiting>()
  let saved = '{}'
  let savedFence: Lease['fence'] | undefined
  let reported: CaptureKeyError | undefined
  // A capture key that cannot capture holds up all its orders for one reason.
  const isKnown = (error: unknown): boolean => {
    if (!(error instanceof CaptureKeyError)) return false
    const isAgain = error === reported
    reported = error
    return isAgain
  }
  return {
    put: (name, error, orderId) => {
      const before = waiting.get(name)
      const tries = before?.tries ?? 0
      const pause = Math.min(longestPause, shortest * 2 ** tries)
      waiting.set(name, {
        reason: String(Object(error).name),
        since: before?.since ?? context.now(),
        tries: tries + 1,
        pause,
        until: performance.now() + pause,
      })
      if (isKnown(error)) return pause
      observeFailure(context, observed, {
        about: {
          ...about,
          what: name,
          ...(orderId === undefined ? {} : { orderId }),
        },
        error,
      })
      return pause
    },
    isWaiting: (name, longest = Number.POSITIVE_INFINITY) => {
      const found = waiting.get(name)
      if (!found || found.pause > longest) return false
      return performance.now() < found.until
    },
    reasonOf: (name) => waiting.get(name)?.reason,
    size: () => waiting.size,
    isTrying: () => {
      const now = performance.now()
      return [...waiting.values()].some(
        ({ pause, until }) => pause <= soon && now - until < soon,
      )
    },
    clear: (name) => {
      waiting.delete(name)
    },
    clearAll: () => {
      waiting.clear()
      saved = '{}'
    },
    save: async (lease) => {
      forgetOld(waiting)
      const entries = encodeEntries(waiting)
      const text = JSON.stringify(entries)
      // If this process took the lease again, another process may have
      // overwritten the stored list meanwhile.
      const isSaved =
        text === saved && (text === '{}' || lease?.fence === savedFence)
      if (!lease || isSaved) return
      const value = { owner: lease.owner, entries }
      await context.store.write(
        (tables) => tables.setValue(asideKey(key), value),
        { lease },
      )
      saved = text
      savedFence = lease.fence
    },
  }
}

/** Removes entries whose next try was due long ago and did not fail again. */
function forgetOld(waiting: Map<string, Waiting>): void {
  const now = performance.now()
  for (const [name, { until }] of waiting)
    if (now - until > 4 * longestPause) waiting.delete(name)
}

function encodeEntries(
  waiting: ReadonlyMap<string, Waiting>,
): Record<string, StoredEntry> {
  const shown = [...waiting].slice(0, mostShown)
  return Object.fromEntries(
    shown.map(([name, { reason, since }]) => [
      name,
      { reason, since: String(since) },
    ]),
  )
}

/**
 * Loads the failures that the current holder of a lease stored, by name.
 * Ignores those of an earlier holder, because the current one tries everything
 * again.
 */
export async function loadAside(
  tables: Pick<StoreReader, 'getValue' | 'getLease'>,
  key: string,
  leaseKey: string,
): Promise<ReadonlyMap<string, AsideEntry>> {
  const value = await tables.getValue(asideKey(key))
  const held = value && (await tables.getLease(leaseKey))
  const isCurrent = held !== undefined && held.owner === value?.owner
  const entries = isCurrent ? Object.entries(Object(value.entries)) : []
  return new Map(
    entries.map(([name, entry]) => {
      const { reason, since } = Object(entry)
      return [name, { reason: String(reason), since: BigInt(String(since)) }]
    }),
  )
}

/** Finds the keys of stored lists of failures that begin with this text. */
export async function findAsideKeys(
  tables: Pick<StoreReader, 'findValues'>,
  prefix: string,
): Promise<string[]> {
  const values = await tables.findValues(asideKey(prefix))
  return values
    .filter(({ value }) => Object.keys(Object(value.entries)).length > 0)
    .map(({ key }) => key.slice(asideKey('').length))
}

function asideKey(key: string): string {
  return `aside:${key}`
}
