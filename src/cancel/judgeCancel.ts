import { serverOf } from '../accept/serverOf.js'
import { checkClock } from '../base/clock.js'
import type { SignedCancellation } from '../base/types.js'
import type { RejectionReason } from '../capture/errors.js'
import { lastSecondOf } from '../ledger/findEvidence.js'
import { OrdersSetupError } from '../records/errors.js'
import type { FoundOrder } from '../records/findOrder.js'
import { sendersOf } from '../records/sendersOf.js'
import type { OrdersContext } from '../records/types.js'
import { rehearseCancel } from '../verify/rehearse.js'
import { wrongChain } from '../verify/wrongChain.js'

/**
 * Why a cancellation would not be worth its gas, if so: rehearsed now, and not
 * taken once the payment cannot be captured any more.
 */
export async function judgeCancel(
  context: OrdersContext,
  { order, attempt }: FoundOrder,
  cancellation: SignedCancellation,
): Promise<RejectionReason | undefined> {
  const { client, wallet } = serverOf(context, order)
  const { id: orderId, chainId, lane } = order
  if (!wallet && sendersOf(context, order).length === 0)
    throw new OrdersSetupError(`have no wallet ${lane} on chain ${chainId}`, {
      orderId,
    })
  const rehearsal = await rehearseCancel(client, cancellation, {
    // The token accepts a cancellation from any sender.
    origin: wallet?.lane.account ?? lane,
    maxGas: context.policy.maxCaptureGas,
  })
  // The payment is of the order's chain, so the node is on the wrong one.
  if (!rehearsal.ok && rehearsal.reason === 'wrongChain')
    throw wrongChain(rehearsal)
  checkClock(rehearsal.head, context.now() / 1000n)
  if (!rehearsal.ok && rehearsal.reason === 'consumed') return 'consumed'
  if (rehearsal.at.time >= lastSecondOf(attempt)) return 'expired'
  return rehearsal.ok ? undefined : rehearsal.reason
}
