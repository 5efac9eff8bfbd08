import { StoreError } from '../store/errors.js'
import type { Lease, PaymentStore, StoredValue } from '../store/types.js'
import type { TargetRun } from './targets/types.js'

/** How far the deliveries to a target have come. */
export type Progress = {
  /**
   * Cursor of the newest delivered event. Earlier events of some orders may
   * still wait.
   */
  read: bigint
  /**
   * For each order that waits, the cursor of its first undelivered event, if
   * that is below `read`. Later events of these orders are undelivered too.
   */
  open: readonly bigint[]
}

/**
 * Progress as it is stored. All events up to `cursor` are delivered; the
 * library does not read `cursor`, it is for people who look at the row.
 */
type StoredProgress = { cursor: string; read: string; open: string[] }

/** Key of a target's lease and of its saved progress. */
export function progressKey({ name }: { name: string }): string {
  return `webhook:${name}`
}

/** Loads the saved progress of a target, `undefined` if it has none. */
export async function loadProgress({
  store,
  target,
}: {
  store: PaymentStore
  target: { name: string }
}): Promise<Progress | undefined> {
  const value = await store.read((tables) =>
    tables.getValue(progressKey(target)),
  )
  return value && parseProgress(value)
}

/**
 * Saves the progress of a target.
 *
 * @throws {@link LeaseLostError} when another process delivers to it now.
 */
export async function writeProgress(
  { store, target }: TargetRun,
  progress: Progress,
  lease: Lease,
): Promise<void> {
  const value = encodeProgress(progress)
  await store.write((tables) => tables.setValue(progressKey(target), value), {
    lease,
  })
}

function encodeProgress({ read, open }: Progress): StoredProgress {
  const [first] = open
  const cursor = first === undefined ? read : first - 1n
  return { cursor: String(cursor), read: String(read), open: open.map(String) }
}

function parseProgress({ read, open }: StoredValue): Progress {
  const cursors: unknown[] = [read, ...(Array.isArray(open) ? open : ['?'])]
  // Throws instead of starting from the beginning, which would deliver every
  // event a second time.
  if (!cursors.every((it) => typeof it === 'string' && /^\d+$/.test(it)))
    throw new StoreError('has a webhook cursor that cannot be read')
  const [newest = 0n, ...others] = cursors.map((it) => BigInt(String(it)))
  return { read: newest, open: others }
}
