import { StoreError } from '../store/errors.js'
import type { JsonObject, Lease, PaymentStore } from '../store/types.js'
import type { TargetRun } from './targets/types.js'

/** How far a target is. */
export type Progress = {
  /** The newest event that was delivered. */
  read: bigint
  /**
   * Undelivered events before it: the first one of each order. Later events of
   * that order were not delivered either.
   */
  open: readonly bigint[]
}

/** Name of the lease, and of the value that keeps how far a target is. */
export function progressKey({ name }: { name: string }): string {
  return `webhook:${name}`
}

/** How far a target is on record; `undefined` if it was never told anything. */
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
 * Puts on record how far a target is.
 *
 * @throws {@link LeaseLostError} when someone else delivers to it by now.
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

/** `cursor` is for who looks: everything up to there is delivered. */
function encodeProgress({ read, open }: Progress): JsonObject {
  const [first] = open
  const cursor = first === undefined ? read : first - 1n
  return { cursor: String(cursor), read: String(read), open: open.map(String) }
}

function parseProgress({ read, open }: JsonObject): Progress {
  const cursors: unknown[] = [read, ...(Array.isArray(open) ? open : ['?'])]
  // Beginning anew would tell everything again.
  if (!cursors.every((it) => typeof it === 'string' && /^\d+$/.test(it)))
    throw new StoreError('has no readable cursor of a webhook')
  const [newest = 0n, ...others] = cursors.map((it) => BigInt(String(it)))
  return { read: newest, open: others }
}
