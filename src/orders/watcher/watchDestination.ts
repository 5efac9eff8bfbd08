import { LeaseLostError } from '../../store/errors.js'
import type { Destination, Lease } from '../../store/types.js'
import { readHeads } from '../evidence/readHeads.js'
import { openAside } from '../model/putAside.js'
import type { OrdersContext } from '../model/types.js'
import { believeFinality, findUnconfirmed } from './believeFinality.js'
import { behindError, checkReorg, type Watch } from './checkReorg.js'
import { clientOf } from './clientOf.js'
import { expireDue, expiryStep } from './expireDue.js'
import { findFinalityFault } from './findFinalityFault.js'
import { fulfilIncluded } from './fulfilIncluded.js'
import { holdLease } from './holdLease.js'
import { raiseSettled } from './raiseSettled.js'
import { reconcileDestination } from './reconcileDestination.js'
import { reportFault, tryStep } from './tryStep.js'
import { destinationKey, type WatchMemory } from './watchState.js'

/** Milliseconds between two periodic reconciliations. */
const reconcileEvery = 10_000

/** Milliseconds between two that go back to the last final block. */
const deepEvery = 600_000

/**
 * Looks once at what the chain says about the orders of a destination, and writes
 * it: what a reorganization took back, what expired, what nobody told us
 * about, and how sure the chain is by now.
 *
 * @param memory what the last look left, `{}` at first; it is changed.
 * @returns in how many milliseconds the next look is due.
 * A part that fails is put aside and tried again later; the others go on.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not name
 * its newest block; the next look begins again.
 */
export async function watchDestination(
  context: OrdersContext,
  destination: Destination,
  memory: WatchMemory,
): Promise<{ nextLook: number }> {
  const { store, policy, owner } = context
  const client = clientOf(context, destination)
  const nextLook = policy.pollingInterval ?? client.pollingInterval
  const key = destinationKey('watch', destination)
  memory.aside ??= openAside(context, {
    key,
    observed: 'watch.failed',
    about: destination,
  })
  const lease = await store.takeLease({
    key,
    owner,
    milliseconds: policy.lease,
  })
  if (lease?.fence !== memory.lease?.fence) forget(memory)
  memory.lease = lease
  if (!lease) return { nextLook: policy.lease / 2 }
  try {
    await holdLease(context, lease, async () => {
      const heads = await readHeads(client, policy, numbersToAsk(memory))
      await look(context, { client, destination, memory, heads, lease })
    })
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error
    forget(memory)
  }
  return { nextLook }
}

async function look(
  context: OrdersContext,
  watch: Watch & { lease: Lease },
): Promise<void> {
  const { memory, heads } = watch
  const { aside } = memory
  const sure = believeFinality(memory, heads)
  reportFault(aside, 'finality', findFinalityFault(context.policy, heads))
  const verdict = await tryStep(memory, 'reorganizations', () =>
    checkReorg(context, watch),
  )
  const isBehind = verdict === 'behind'
  reportFault(aside, 'head', isBehind ? behindError(watch) : undefined)
  if (isBehind) return
  const sureWatch = { ...watch, sure }
  // Each step runs even if another one failed.
  await tryStep(memory, expiryStep, () => expireDue(context, sureWatch))
  await tryStep(memory, 'reconciliation', () =>
    reconcileWhenDue(context, watch, verdict === 'reorged'),
  )
  if (context.policy.fulfilAt === 'included')
    await tryStep(memory, 'fulfilment', () => fulfilIncluded(context, watch))
  await tryStep(memory, 'grading', () => raiseSettled(context, sureWatch))
}

async function reconcileWhenDue(
  context: OrdersContext,
  watch: Watch & { lease: Lease },
  isReorged: boolean,
): Promise<void> {
  const { memory } = watch
  const now = performance.now()
  const { nextReconcile = now, nextDeepReconcile = now } = memory
  const isDeep = nextDeepReconcile <= now
  if (!isReorged && !isDeep && nextReconcile > now) return
  await reconcileDestination(context, { ...watch, isDeep })
  memory.nextReconcile = now + reconcileEvery
  if (isDeep) memory.nextDeepReconcile = now + deepEvery
}

/** Numbers of blocks from the last look that this one has to find again. */
function numbersToAsk(memory: WatchMemory): bigint[] {
  const newest = memory.head ?? memory.seen?.at(-1)
  const finality = findUnconfirmed(memory)
  return newest ? [newest.number, ...finality] : finality
}

/** What was known under a lease that was lost is not known any more. */
function forget(memory: WatchMemory): void {
  memory.lease = undefined
  memory.aside?.clearAll()
  memory.apart = undefined
  memory.head = undefined
  memory.behind = undefined
  memory.dropped = undefined
  memory.finality = undefined
  memory.unpaid = undefined
  memory.seen = undefined
  memory.recheckFrom = undefined
  memory.nextReconcile = undefined
  memory.nextDeepReconcile = undefined
  memory.fulfilledTo = undefined
}
