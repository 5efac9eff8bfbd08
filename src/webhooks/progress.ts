import { StoreError } from '../store/errors.js'
import type { Lease, PaymentStore, StoredValue } from '../store/types.js'
import type { TargetRun, WebhookFailure } from './targets/types.js'

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

/** The last delivery to a target that failed. */
export type LastFailure = {
  /** When it failed, in Unix milliseconds. */
  at: bigint
  reason: WebhookFailure
  /** HTTP status, if the receiver answered. */
  status?: number | undefined
}

const prefix = 'webhook:'

/** Key of a target's lease and of its saved progress. */
export function progressKey({ name }: { name: string }): string {
  return `${prefix}${name}`
}

/** Finds the names of all targets with saved progress. */
export async function findTargets(store: PaymentStore): Promise<string[]> {
  const values = await store.read((tables) => tables.findValues(prefix))
  return values
    .map(({ key }) => key.slice(prefix.length))
    .filter((name) => !name.includes(' '))
    .sort()
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
 * Loads the progress with which deliveries begin. If a replay was requested,
 * goes back, and forgets the request.
 */
export async function startProgress(
  { store, target }: TargetRun,
  lease: Lease,
): Promise<Progress | undefined> {
  const { saved, asked } = await store.read(async (tables) => ({
    saved: await tables.getValue(progressKey(target)),
    asked: await tables.getValue(replayKey(target)),
  }))
  if (asked?.after === undefined) return saved && parseProgress(saved)
  return store.write(
    async (tables) => {
      await tables.lock(replayKey(target))
      const value = await tables.getValue(progressKey(target))
      const { after } = (await tables.getValue(replayKey(target))) ?? {}
      if (!value || after === undefined) return value && parseProgress(value)
      const progress = goBack(parseProgress(value), BigInt(String(after)))
      await tables.setValue(progressKey(target), encodeProgress(progress))
      await tables.setValue(replayKey(target), {})
      // Whoever asks for a replay wants to see it now.
      await tables.setValue(pausesKey(target), {})
      return progress
    },
    { lease },
  )
}

/** Requests that every event after a cursor is delivered again. */
export async function requestReplay(
  store: PaymentStore,
  { target, after }: { target: { name: string }; after: bigint },
): Promise<void> {
  await store.write(async (tables) => {
    await tables.lock(replayKey(target))
    const earlier = (await tables.getValue(replayKey(target)))?.after
    // An earlier request that has not begun yet must not be cut short.
    const isWider = earlier !== undefined && BigInt(String(earlier)) < after
    if (!isWider)
      await tables.setValue(replayKey(target), { after: String(after) })
  })
}

/** True until the deliveries go back to where a requested replay begins. */
export async function isReplayRequested({
  store,
  target,
}: {
  store: PaymentStore
  target: { name: string }
}): Promise<boolean> {
  const asked = await store.read((it) => it.getValue(replayKey(target)))
  return asked?.after !== undefined
}

/**
 * Saves the progress of a target, and with `failure` its last failure.
 *
 * @throws {@link LeaseLostError} when another process delivers to it now.
 */
export async function writeProgress(
  { store, target }: TargetRun,
  progress: Progress,
  { lease, failure }: { lease: Lease; failure?: LastFailure | undefined },
): Promise<void> {
  const value = encodeProgress(progress)
  await store.write(
    async (tables) => {
      await tables.setValue(progressKey(target), value)
      if (!failure) return
      const { at, reason, status } = failure
      await tables.setValue(failureKey(target), {
        at: String(at),
        reason,
        ...(status !== undefined && { status }),
      })
    },
    { lease },
  )
}

/** Loads the last failure of a target, `undefined` if there was none. */
export async function loadFailure({
  store,
  target,
}: {
  store: PaymentStore
  target: { name: string }
}): Promise<LastFailure | undefined> {
  const value = await store.read((it) => it.getValue(failureKey(target)))
  if (!value) return undefined
  const { at, reason, status } = value
  return {
    at: BigInt(String(at)),
    reason: reason as WebhookFailure,
    status: status === undefined ? undefined : Number(status),
  }
}

// Names of targets contain no space.
export const pausesKey = (target: { name: string }): string =>
  `${progressKey(target)} pauses`
const replayKey = (target: { name: string }) => `${progressKey(target)} replay`
const failureKey = (target: { name: string }) =>
  `${progressKey(target)} failure`

/** Never goes forward, which would leave out events. */
function goBack({ read, open }: Progress, after: bigint): Progress {
  let back = after < read ? after : read
  // `read` is a delivered event, and those in `open` are undelivered.
  while (open.includes(back)) back -= 1n
  return { read: back, open: open.filter((cursor) => cursor < back) }
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
