import { wait } from '../../core/wait.js'
import { LeaseLostError } from '../../store/errors.js'
import type { Destination, Lease } from '../../store/types.js'
import { clientOf } from '../evidence/clientOf.js'
import { getHeads } from '../evidence/getHeads.js'
import { type Aside, openAside } from '../model/putAside.js'
import type { OrdersContext } from '../model/types.js'
import {
  believeFinality,
  findFinalityFault,
  findUnconfirmed,
} from './believeFinality.js'
import { carryRefunds, refundsStep } from './carryRefunds.js'
import { behindError, checkReorg } from './checkReorg.js'
import { destinationKey } from './destinationCursor.js'
import { expireDue, expiryStep } from './expireDue.js'
import { fulfilIncluded } from './fulfilIncluded.js'
import { finalityStep, raiseSettled } from './raiseSettled.js'
import {
  reconcileDestination,
  reconciliationStep,
} from './reconcileDestination.js'
import { reportFault, tryStep } from './tryStep.js'
import { newMemory, type Watch, type WatchMemory } from './watchState.js'

/** Milliseconds between two reconciliations that go back to the last final block. */
const deepEvery = 600_000

/** Watches the orders of one destination, one look at a time. */
export type DestinationWatcher = {
  /**
   * Compares the orders of the destination with the chain once and writes the
   * differences: proofs that a reorganization removed, expired orders, payments
   * that others submitted, and finality. Does nothing while another process
   * watches. If a part fails, puts it aside and continues with the others.
   *
   * @returns `nextLook`, the milliseconds until the next look.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * name its newest block; the next look begins again.
   */
  look(): Promise<{ nextLook: number }>
  /** Steps and orders that failed and wait for their next try. */
  aside: Aside
  /** The right to watch this destination, while it is held. */
  lease(): Lease | undefined
}

/**
 * Starts to watch a destination. Each new lease starts with an empty memory,
 * because another process may have written since the last lease.
 */
export function watchDestination(
  context: OrdersContext,
  destination: Destination,
  {
    aside = openAside(context, {
      key: destinationKey('watch', destination),
      observed: 'watch.failed',
      about: destination,
    }),
    reconcileEvery = 10_000,
    mostOpen,
  }: {
    aside?: Aside | undefined
    /** Milliseconds between two periodic reconciliations. */
    reconcileEvery?: number | undefined
    /** Maximum number of open orders that one reconciliation asks about. */
    mostOpen?: number | undefined
  } = {},
): DestinationWatcher {
  const { store, policy, owner } = context
  const client = clientOf(context, destination)
  const nextLook = policy.pollingInterval ?? client.pollingInterval
  const key = destinationKey('watch', destination)
  const milliseconds = policy.lease
  let lease: Lease | undefined
  let memory = newMemory()
  const renew = (next: Lease | undefined): void => {
    if (next?.fence !== lease?.fence) {
      memory = newMemory()
      aside.clearAll()
    }
    lease = next
  }
  const look = async (): Promise<{ nextLook: number }> => {
    const held = await store.takeLease({ key, owner, milliseconds })
    renew(held)
    if (!held) return { nextLook: policy.lease / 2 }
    try {
      await holdLease(context, held, async () => {
        const heads = await getHeads(client, policy, numbersToAsk(memory))
        const watch = { client, destination, heads, memory, lease, aside }
        await lookOnce(context, { ...watch, reconcileEvery, mostOpen })
      })
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error
      renew(undefined)
    }
    return { nextLook }
  }
  return { look, aside, lease: () => lease }
}

/**
 * The steps of one look; each runs even if another one failed:
 *
 *  1. `believeFinality`  confirms the safe and final blocks by a second look,
 *  2. `checkReorg`       finds replaced blocks and takes their proofs back,
 *  3. `expireDue`        ends orders whose window is over and nonce unused,
 *  4. `reconcileDestination`  finds payments nobody reported, every 10 seconds,
 *  5. `fulfilIncluded`   fulfils at `included`, if the policy says so,
 *  6. `raiseSettled`     raises finality, fulfils at `safe` and `finalized`,
 *  7. `carryRefunds`     has requested refunds signed.
 *
 * If a reorganization makes an order `capturing` again, its transactions are in
 * flight again: the next look of the submitter sends the same bytes.
 */
async function lookOnce(
  context: OrdersContext,
  watch: Watch & Reconciling,
): Promise<void> {
  const { memory, heads, aside } = watch
  const sureWatch = { ...watch, sure: believeFinality(memory, heads) }
  reportFault(aside, 'finality', findFinalityFault(context.policy, heads))
  const verdict = await tryStep(watch, 'reorganizations', () =>
    checkReorg(context, watch),
  )
  const isBehind = verdict === 'behind'
  reportFault(aside, 'head', isBehind ? behindError(watch) : undefined)
  if (isBehind) return
  await tryStep(watch, expiryStep, () => expireDue(context, sureWatch))
  await tryStep(watch, reconciliationStep, () =>
    reconcileWhenDue(context, watch, verdict === 'reorged'),
  )
  if (context.policy.fulfilAt === 'included')
    await tryStep(watch, 'fulfilment', () => fulfilIncluded(context, watch))
  await tryStep(watch, finalityStep, () => raiseSettled(context, sureWatch))
  await tryStep(watch, refundsStep, () => carryRefunds(context, sureWatch))
}

type Reconciling = { reconcileEvery: number; mostOpen: number | undefined }

async function reconcileWhenDue(
  context: OrdersContext,
  watch: Watch & Reconciling,
  isReorged: boolean,
): Promise<void> {
  const { memory, reconcileEvery } = watch
  const now = performance.now()
  const { nextReconcile = now, nextDeepReconcile = now } = memory
  const isDeep = nextDeepReconcile <= now
  if (!isReorged && !isDeep && nextReconcile > now) return
  await reconcileDestination(context, { ...watch, isDeep, isAll: false })
  memory.nextReconcile = now + reconcileEvery
  if (isDeep) memory.nextDeepReconcile = now + deepEvery
}

/** Numbers of blocks from earlier looks that this look must find again. */
function numbersToAsk(memory: WatchMemory): bigint[] {
  const newest = memory.head ?? memory.seen?.at(-1)
  const finality = findUnconfirmed(memory)
  return newest ? [newest.number, ...finality] : finality
}

/**
 * Does work and prolongs the lease until the work ends. Otherwise, with slow
 * nodes, two processes would take the lease from each other again and again.
 *
 * Does not stop the work if the lease is lost: the store refuses its writes.
 */
async function holdLease(
  { store, owner, policy }: OrdersContext,
  { key }: Lease,
  work: () => Promise<void>,
): Promise<void> {
  const over = new AbortController()
  const prolong = async (): Promise<void> => {
    const milliseconds = policy.lease
    for (;;) {
      await wait(milliseconds / 3, over.signal)
      if (over.signal.aborted) return
      if (!(await store.takeLease({ key, owner, milliseconds }))) return
    }
  }
  // If the store does not answer, the work itself fails.
  const prolonging = prolong().catch(() => undefined)
  try {
    await work()
  } finally {
    over.abort()
    await prolonging
  }
}
