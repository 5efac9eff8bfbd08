import { DuplicateRecordError, StaleRecordError } from '../../store/errors.js'
import type { OrderRecord, TransactionRecord } from '../../store/types.js'
import { writeJoined } from '../account/joins.js'
import { loadBumps } from '../account/loadBumps.js'
import { type SubmitterState, submitterKey } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { applyTaken, type Rules, rulesOf } from '../model/apply.js'
import { type Changes, joinChanges, writeChanges } from '../model/changes.js'
import { carry, type DueTransaction, idsOf } from './dueTransaction.js'
import type { DueDraft } from './rehearseDue.js'
import {
  type DueLeft,
  type SignedBytes,
  type SignedDrafts,
  signingOf,
} from './signDrafts.js'

/**
 * Stores signed transactions with their orders, before any is sent. In the same
 * write, stores the requests of captures offered in `joins`. If an order
 * changed meanwhile, or an account nonce already has a row, stores nothing and
 * returns what must be signed again; offered captures are left out if an order
 * changed.
 *
 * @param isLastTry true to throw instead of returning what to sign again.
 */
export async function recordSigned(
  context: OrdersContext,
  submitter: SubmitterState,
  drafts: SignedDrafts,
  isLastTry: boolean,
): Promise<{ recorded: readonly SignedBytes[]; left: DueLeft }> {
  const { signed, ready, left } = drafts
  try {
    await writeSigned(context, submitter, drafts)
    return { recorded: signed.map(({ bytes }) => bytes), left }
  } catch (error) {
    const isStale = error instanceof StaleRecordError
    const isTaken = error instanceof DuplicateRecordError
    if (!(isStale || isTaken) || isLastTry) throw error
    const again = [...ready, ...left.due]
    if (isStale) {
      const { joins } = submitter
      joins.refuse(idsOf(again))
      const versions = await loadVersions(context, idsOf(again))
      const due = keepDrafts(
        again,
        ({ stored: { order } }) =>
          !joins.has(order.id) && versions.get(order.id) === order.version,
      )
      return { recorded: [], left: { due, bumps: drafts.bumps } }
    }
    // The store may have an older, closed transaction at one of these nonces,
    // so load the `bump` of each.
    const { nextNonce } = submitter.nonces.value
    const nonces = again.map((_, place) => nextNonce + place)
    const bumps = await context.store.read((tables) =>
      loadBumps(tables, submitter, nonces),
    )
    return { recorded: [], left: { due: again, bumps } }
  }
}

async function writeSigned(
  context: OrdersContext,
  submitter: SubmitterState,
  { ready, signed }: SignedDrafts,
): Promise<void> {
  if (ready.length === 0) return
  const { wallet, nonces, inFlight, orders, joins, aside, lease } = submitter
  const { time: headTime } = submitter.pace
  const value = nonces.valueAfter({ added: ready.length, headTime })
  const drafts = ready.flatMap((one) => one.drafts)
  const joined = joins.begin(idsOf(ready))
  const written = await context.store.write(
    async (tables) => {
      const rules = rulesOf(context)
      const asked = await writeJoined(context, tables, joined)
      const { orders, events, ...others } = planRecord(
        drafts.map((draft) => withOrder(draft, asked)),
        signed,
        rules,
      )
      const requests = joined.map(({ event }) => event)
      const changes = { ...others, orders, events: [...requests, ...events] }
      await writeChanges(tables, changes, rules.at)
      await tables.setValue(submitterKey(wallet.submitter), value)
      return orders
    },
    { lease },
  )
  nonces.keep(value)
  orders.rememberRecorded(written)
  joins.settle(
    written.map((order) => ({ ...order, version: order.version + 1 })),
  )
  inFlight.add(signed.map(({ row }) => ({ ...row, version: 1 })))
  for (const draft of drafts) {
    inFlight.rememberEnds(draft.stored.attempt)
    aside.clear(signingOf(draft.stored.order.id))
  }
}

function withOrder(
  draft: DueDraft,
  orders: ReadonlyMap<string, OrderRecord>,
): DueDraft {
  const { stored } = draft
  const order = orders.get(stored.order.id)
  return order ? { ...draft, stored: { ...stored, order } } : draft
}

async function loadVersions(
  { store }: OrdersContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const orders = await store.read((tables) => tables.orders.find({ ids }))
  return new Map(orders.map(({ id, version }) => [id, version]))
}

/**
 * Leaves out drafts. A transaction that carries others too is built again for
 * those.
 */
function keepDrafts(
  transactions: readonly DueTransaction[],
  isKept: (draft: DueDraft) => boolean,
): DueTransaction[] {
  return transactions.flatMap((one) => {
    const [first, ...others] = one.drafts.filter(isKept)
    if (!first) return []
    const isWhole = others.length + 1 === one.drafts.length
    return isWhole ? one : carry([first, ...others], one.route)
  })
}

/**
 * Plans the changes that store transactions and set the states of their orders.
 *
 * @throws {@link TransitionError} when an order cannot go in flight, because its
 * transaction would be sent all the same.
 */
export function planRecord(
  drafts: readonly DueDraft[],
  signed: readonly { row: Omit<TransactionRecord, 'version'> }[],
  rules: Rules,
): Changes {
  const started = drafts.map(({ stored, kind: call, leftOut }) =>
    applyTaken(stored, { kind: 'recorded', call, leftOut }, rules),
  )
  return {
    ...joinChanges(started),
    newTransactions: signed.map(({ row }) => row),
  }
}
