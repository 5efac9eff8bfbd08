import { checkReorg, type Watch } from '../forks/checkReorg.js'
import { readHeads } from '../forks/readHeads.js'
import { scopeKey, type WatchMemory } from '../forks/watchState.js'
import { clientOf } from '../reconcile/clientOf.js'
import { reconcileScope } from '../reconcile/reconcileScope.js'
import { openAside } from '../records/putAside.js'
import type { OrdersContext } from '../records/types.js'
import { LeaseLostError } from '../store/errors.js'
import type { Lease, Scope } from '../store/types.js'
import { expireDue } from './expireDue.js'
import { gradeSettled } from './gradeSettled.js'
import { holdLease } from './holdLease.js'

/** Milliseconds between two periodic reconciliations. */
const reconcileEvery = 10_000

/** Milliseconds between two that go back to the last final block. */
const deepEvery = 600_000

/**
 * Looks once at what the chain says about the orders of a scope, and writes
 * it: what a reorganization took back, what expired, what nobody told us
 * about, and how sure the chain is by now.
 *
 * @param memory what the last look left, `{}` at first; it is changed.
 * @returns in how many milliseconds the next look is due.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked; what was written stays true, and the
 * next look begins again.
 */
export async function watchScope(
  context: OrdersContext,
  scope: Scope,
  memory: WatchMemory,
): Promise<{ nextLook: number }> {
  const { store, policy, owner } = context
  const client = clientOf(context, scope)
  const nextLook = policy.pollingInterval ?? client.pollingInterval
  const key = scopeKey('watch', scope)
  memory.aside ??= openAside(context, {
    key,
    observed: 'watch.failed',
    about: scope,
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
      const seen = memory.seen?.at(-1)?.number
      const heads = await readHeads(client, policy, seen)
      await look(context, { client, scope, memory, heads, lease })
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
  const verdict = await checkReorg(context, watch)
  if (verdict === 'behind') return
  // What one of them stumbles over must not keep the others from their work.
  const done = await inOrder([
    () => expireDue(context, watch),
    () => reconcileWhenDue(context, watch, verdict === 'reorged'),
    () => gradeSettled(context, watch),
  ])
  const failure = done.find(({ status }) => status === 'rejected')
  if (failure?.status === 'rejected') throw failure.reason
}

/** One after another, each whatever became of the one before. */
async function inOrder(
  steps: readonly (() => Promise<void>)[],
): Promise<PromiseSettledResult<void>[]> {
  const done: PromiseSettledResult<void>[] = []
  for (const step of steps) done.push(...(await Promise.allSettled([step()])))
  return done
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
  await reconcileScope(context, { ...watch, isDeep })
  memory.nextReconcile = now + reconcileEvery
  if (isDeep) memory.nextDeepReconcile = now + deepEvery
}

/** What was known under a lease that was lost is not known any more. */
function forget(memory: WatchMemory): void {
  memory.lease = undefined
  memory.aside?.clearAll()
  memory.seen = undefined
  memory.recheckFrom = undefined
  memory.nextReconcile = undefined
  memory.nextDeepReconcile = undefined
  memory.fulfilledTo = undefined
}
