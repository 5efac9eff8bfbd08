import { DuplicateRecordError, StaleRecordError } from '../../store/errors.js'
import type { TransactionRecord } from '../../store/types.js'
import {
  type Changes,
  moveOrder,
  noChanges,
  withEvent,
  writeChanges,
} from '../model/changes.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { loadBumps } from './loadBumps.js'
import type { DueDraft } from './rehearseDue.js'
import {
  type DraftsLeft,
  type SignedBytes,
  type SignedDrafts,
  signingOf,
} from './signDrafts.js'
import { type SubmitterState, submitterKey } from './submitterState.js'

/**
 * Writes signed transactions with their orders, before any is sent. If an order
 * changed in between, or a nonce already has a row, it writes none and the
 * drafts must be signed again.
 *
 * @param isLastTry `true`: throws instead of returning drafts to sign again.
 */
export async function recordSigned(
  context: OrdersContext,
  submitter: SubmitterState,
  drafts: SignedDrafts,
  isLastTry: boolean,
): Promise<{ recorded: readonly SignedBytes[]; left: DraftsLeft }> {
  const { signed, ready, left } = drafts
  try {
    await writeSigned(context, submitter, drafts)
    return { recorded: signed.map(({ bytes }) => bytes), left }
  } catch (error) {
    const isStale = error instanceof StaleRecordError
    const isTaken = error instanceof DuplicateRecordError
    if (!(isStale || isTaken) || isLastTry) throw error
    const again = [...ready, ...left.drafts]
    if (isStale) {
      const fresh = await dropStale(context, again)
      return { recorded: [], left: { drafts: fresh, bumps: drafts.bumps } }
    }
    // A closed transaction may be on record at one of these nonces.
    const { nextNonce } = submitter.nonces.value
    const nonces = again.map((_, place) => nextNonce + place)
    const bumps = await context.store.read((tables) =>
      loadBumps(tables, submitter, nonces),
    )
    return { recorded: [], left: { drafts: again, bumps } }
  }
}

async function writeSigned(
  context: OrdersContext,
  submitter: SubmitterState,
  { ready, signed }: SignedDrafts,
): Promise<void> {
  if (ready.length === 0) return
  const { wallet, nonces, inFlight, orders, aside, lease } = submitter
  const nextNonce = nonces.value.nextNonce + ready.length
  const value = { ...nonces.value, nextNonce }
  const changes = planRecord(ready, signed, context.now())
  await context.store.write(
    async (tables) => {
      await writeChanges(tables, changes)
      await tables.setValue(submitterKey(wallet.submitter), value)
    },
    { lease },
  )
  nonces.keep(value)
  orders.rememberRecorded(changes.orders)
  inFlight.add(signed.map(({ row }) => ({ ...row, version: 1 })))
  for (const draft of ready) {
    inFlight.rememberEnds(draft.stored.attempt)
    aside.clear(signingOf(draft.stored.order.id))
  }
}

/** Returns the drafts whose orders have not changed since they were found. */
async function dropStale(
  { store }: OrdersContext,
  drafts: readonly DueDraft[],
): Promise<DueDraft[]> {
  const ids = drafts.map(({ stored }) => stored.order.id)
  const orders = await store.read((tables) => tables.orders.find({ ids }))
  const versions = new Map(orders.map((row) => [row.id, row.version]))
  return drafts.filter(
    ({ stored: { order } }) => versions.get(order.id) === order.version,
  )
}

/** Builds the changes that record transactions and move their orders. Pure. */
export function planRecord(
  drafts: readonly DueDraft[],
  signed: readonly { row: Omit<TransactionRecord, 'version'> }[],
  at: bigint,
): Changes {
  const moved = drafts.map(({ stored, kind }) => startOrder(stored, kind, at))
  return {
    ...noChanges(),
    orders: moved.map(({ order }) => order),
    events: moved.map(({ event }) => event),
    newTransactions: signed.map(({ row }) => row),
  }
}

function startOrder(
  { order, attempt }: StoredOrder,
  kind: DueDraft['kind'],
  at: bigint,
): ReturnType<typeof moveOrder> {
  const to = kind === 'capture' ? 'capturing' : 'canceling'
  const event = { type: to, at, data: { attempt: attempt.number } } as const
  const fields = { requested: kind, sendDue: undefined, reason: undefined }
  return order.state === 'voided'
    ? withEvent(order, event, fields)
    : moveOrder(order, to, event, fields)
}
