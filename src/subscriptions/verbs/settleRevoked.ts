import {
  apply,
  clientOf,
  findEvidence,
  rulesOf,
  writeChanges,
} from '../../orders/engine.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { StoredSubscription } from '../schedule/showSubscription.js'
import { loadSubscription, type SubscriptionsContext } from './context.js'

/**
 * Searches the chain for a revocation that this library did not send, and
 * cancels the subscription if the manager's event proves it.
 *
 * @throws when the search for the event fails; the schedule repeats it later.
 */
export async function settleRevoked(
  { context }: SubscriptionsContext,
  { row, held }: StoredSubscription,
): Promise<void> {
  const { kinds } = context
  const client = clientOf(context, row)
  const evidence = await findEvidence(client, { ...held, kinds })
  if (evidence?.kind !== 'cancel') return
  await writeAgain(context, async (tables) => {
    const { held: now } = await loadSubscription(tables, context, row.id)
    const rules = rulesOf(context)
    await writeChanges(tables, apply(now, evidence, rules), rules.at)
  })
}
