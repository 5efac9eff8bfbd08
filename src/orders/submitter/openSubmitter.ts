import { endOfTime } from '../../store/endOfTime.js'
import { LeaseLostError } from '../../store/errors.js'
import type { StoreReader } from '../../store/types.js'
import { endsOf } from '../model/endsOf.js'
import type { Aside } from '../model/putAside.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import { isClaimed } from './claimSubmitter.js'
import {
  newSubmitter,
  readerOf,
  readSubmitterValue,
  type SubmitterState,
  submitterKey,
  windowKey,
} from './submitterState.js'

/** Milliseconds after which open transactions are read again. */
const maxAge = 2000

/**
 * Takes the submitter or keeps it. A submitter whose fence is new starts from the store;
 * `undefined` when someone else works on it.
 */
export async function openSubmitter(
  context: OrdersContext,
  {
    wallet,
    submitter,
    aside,
  }: {
    wallet: OrderWallet
    submitter: SubmitterState | undefined
    aside: Aside
  },
): Promise<SubmitterState | undefined> {
  const { store, policy, owner, recipients } = context
  const now = performance.now()
  // A third is left for the work that is done under it.
  if (submitter && now - submitter.leasedAt < policy.lease / 3) return submitter
  const lease = await store.takeLease({
    key: submitterKey(wallet.submitter),
    owner,
    milliseconds: policy.lease,
  })
  if (!lease) return undefined
  if (submitter?.lease.fence === lease.fence)
    return Object.assign(submitter, { lease, leasedAt: now })
  const reader = readerOf(context, wallet.submitter.chainId)
  return newSubmitter(wallet, reader, {
    lease,
    leasedAt: now,
    aside,
    recipients,
  })
}

/**
 * Keeps a submitter through long work.
 *
 * @throws {@link LeaseLostError} when someone else works on it by now.
 */
export async function keepSubmitter(
  context: OrdersContext,
  submitter: SubmitterState,
): Promise<void> {
  const kept = await openSubmitter(context, {
    wallet: submitter.wallet,
    submitter,
    aside: submitter.aside,
  })
  if (kept !== submitter) throw new LeaseLostError(submitter.lease)
}

/** What the store has for a submitter to do. */
export type SubmitterWork = {
  suspended: boolean
  /** Orders are due by then, or something is in flight. */
  isBusy: boolean
  /** So many orders are due that they are worth making ready ahead. */
  isMuch: boolean
  /** True when someone whose orders we do not send waits for the submitter. */
  isClaimed: boolean
}

/** Orders from which on it pays to read them while the chain is looked at. */
const much = 16

/**
 * Reads what is open, where that is not known, and whether orders are due.
 */
export async function findWork(
  context: OrdersContext,
  submitter: SubmitterState,
): Promise<SubmitterWork> {
  const { store } = context
  const { recipients } = submitter
  const now = performance.now()
  const isKnown =
    submitter.inFlight.length > 0 && now - submitter.loadedAt < maxAge
  return store.read(async (tables) => {
    const { suspended } = Object(await tables.getValue('store'))
    const nothing = {
      suspended: false,
      isBusy: false,
      isMuch: false,
      isClaimed: await isClaimed(tables, context, submitter.wallet.submitter),
    }
    if (suspended === true) return { ...nothing, suspended }
    if (!isKnown) {
      await loadSubmitter(tables, submitter)
      submitter.loadedAt = now
    }
    if (submitter.inFlight.length > 0) return { ...nothing, isBusy: true }
    const due = await tables.orders.find({
      sendDue: submitter.wallet.submitter,
      recipients,
      // What is due later is compared with the chain's time, not ours.
      until: endOfTime,
      limit: much,
    })
    const isMuch = due.length === much
    return { ...nothing, isBusy: due.length > 0, isMuch }
  })
}

async function loadSubmitter(
  tables: StoreReader,
  submitter: SubmitterState,
): Promise<void> {
  const { wallet } = submitter
  const value = await tables.getValue(submitterKey(wallet.submitter))
  submitter.value = readSubmitterValue(value)
  submitter.inFlight = await tables.transactions.find({
    inFlight: wallet.submitter,
  })
  const orderIds = [
    ...new Set(submitter.inFlight.flatMap(({ orderId }) => orderId ?? [])),
  ]
  for (const id of submitter.recorded.keys())
    if (!orderIds.includes(id)) submitter.recorded.delete(id)
  const unknown = submitter.inFlight.some(
    (row) => !submitter.windows.has(windowKey(row)),
  )
  if (!unknown || orderIds.length === 0) return
  for (const attempt of await tables.attempts.find({ orderIds }))
    submitter.windows.set(
      windowKey({ orderId: attempt.orderId, attempt: attempt.number }),
      endsOf(attempt),
    )
}
