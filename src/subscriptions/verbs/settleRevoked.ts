import { clientOf } from '../../orders/evidence/clientOf.js'
import { findEvidence } from '../../orders/evidence/findEvidence.js'
import { writeChanges } from '../../orders/model/changes.js'
import { observeFailure } from '../../orders/model/observeFailure.js'
import { settleOrder } from '../../orders/model/settleOrder.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { StoredSubscription } from '../schedule/showSubscription.js'
import { loadSubscription, type SubscriptionsDesk } from './desk.js'

/**
 * Writes a revocation that this library did not send, from the manager's event.
 * If that fails, `observe` reports it. The schedule asks again later.
 */
export async function settleRevoked(
  desk: SubscriptionsDesk,
  found: StoredSubscription,
): Promise<void> {
  const { context } = desk
  try {
    await writeRevocation(desk, found)
  } catch (error) {
    if (context.signal?.aborted) return
    const { chainId, token, recipient, id } = found.row
    observeFailure(context, 'schedule.failed', {
      about: { chainId, token, recipient, what: id },
      error,
    })
  }
}

async function writeRevocation(
  { context }: SubscriptionsDesk,
  { row, held }: StoredSubscription,
): Promise<void> {
  const { kinds } = context
  const client = clientOf(context, row)
  const evidence = await findEvidence(client, { ...held, kinds })
  if (evidence?.kind !== 'cancel') return
  await writeAgain(context, async (tables) => {
    const { held: now } = await loadSubscription(tables, context, row.id)
    await writeChanges(tables, settleOrder(now, evidence, context.now()))
  })
}
