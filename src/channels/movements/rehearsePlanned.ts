import type { Client } from 'viem'
import { type OrdersContext, paymentOf } from '../../orders/engine.js'
import type { SettlingCall } from '../../payments/kind.js'
import { movementOf } from './movementTerms.js'
import type { PlannedMovement } from './planMovement.js'
import { rehearseMovement } from './rehearseMovement.js'

/**
 * Simulates a movement that is not stored yet, as the account that would send
 * it.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer.
 */
export function rehearsePlanned(
  context: Pick<OrdersContext, 'kinds'>,
  client: Client,
  { order, attempt, secret }: PlannedMovement,
): Promise<SettlingCall> {
  const payment = paymentOf(
    context,
    { ...order, version: 1, position: 0n },
    { ...attempt, version: 1 },
  )
  const account = order.submitter
  return rehearseMovement(client, movementOf(payment), { account, secret })
}
