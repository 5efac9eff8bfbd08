import { checkClock } from '../../core/clock.js'
import type { RejectionReason, SignedCancellation } from '../../core/types.js'
import { rehearseCancel } from '../../payments/verify/rehearse.js'
import { wrongChain } from '../../payments/verify/wrongChain.js'
import { lastSecondOf } from '../model/endsOf.js'
import { OrdersSetupError } from '../model/errors.js'
import { sendersOf } from '../model/sendersOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { serverOf } from './serverOf.js'

/**
 * Why a cancellation would not be worth its gas, if so: rehearsed now, and not
 * taken once the payment cannot be captured any more.
 */
export async function judgeCancel(
  context: OrdersContext,
  { order, attempt }: StoredOrder,
  cancellation: SignedCancellation,
): Promise<RejectionReason | undefined> {
  const { client, wallet } = serverOf(context, order)
  const { id: orderId, chainId, submitter } = order
  if (!wallet && sendersOf(context, order).length === 0)
    throw new OrdersSetupError(
      `have no wallet ${submitter} on chain ${chainId}`,
      {
        orderId,
      },
    )
  const rehearsal = await rehearseCancel(client, cancellation, {
    // The token accepts a cancellation from any sender.
    origin: wallet?.submitter.account ?? submitter,
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
