import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { parseSignedCancellation } from '../../core/fields.js'
import { hashDomain } from '../../core/hashPayment.js'
import type { RejectionReason, SignedCancellation } from '../../core/types.js'
import { encodeCancel } from '../../payments/message/encodeCall.js'
import { wrongChain } from '../../payments/verify/judgeRehearsal.js'
import { rehearseCancel } from '../../payments/verify/rehearse.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { checkChainClock } from '../model/checkChainClock.js'
import { lastSecondOf } from '../model/endsOf.js'
import { OrdersSetupError } from '../model/errors.js'
import { hasTokenNonce, kindOf } from '../model/kindOf.js'
import { loadOrder } from '../model/loadOrders.js'
import { cancellationOf, sealContextOf } from '../model/paymentOf.js'
import { refuseCancellation } from '../model/refusals.js'
import { sendersOf } from '../model/sendersOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { CancellationVerdict } from '../model/types.js'
import { mostTries } from './checkAccept.js'
import { serverOf } from './judgeAccept.js'
import { type CancelRefusal, refuseCancel, writeCancel } from './writeCancel.js'

/** Parameters of `acceptCancellation`: an order and its signed cancellation. */
export type AcceptCancellationParameters = {
  orderId: string
  /** The cancellation that the buyer signed. */
  cancellation: SignedCancellation
}

const members: MembersOf<AcceptCancellationParameters> = {
  orderId: true,
  cancellation: true,
}

/** Implements `acceptCancellation` of `DestinationOrders`. */
export async function acceptCancellation(
  context: OrdersContext,
  parameters: AcceptCancellationParameters,
): Promise<CancellationVerdict> {
  checkMembers(parameters, members)
  const { orderId } = parameters
  const cancellation = parseSignedCancellation(parameters.cancellation)
  const found = await context.store.read((tables) =>
    loadOrder(tables, context, orderId),
  )
  const refused = refuseCancellation(found)
  if (refused) return refuseCancel(found, refused)
  const rejected = await countForged(
    context,
    orderId,
    async () =>
      checkMatch(context, found, cancellation) ??
      judgeCancel(context, found, cancellation),
  )
  if (rejected) return refuseCancel(found, rejected)
  const sealed = await context.sealer.seal(
    cancellation.signature,
    sealContextOf('cancellation', found.order, found.attempt),
  )
  const { to, data } = encodeCancel(cancellation)
  return writeAgain(context, async (tables) => {
    const now = await loadOrder(tables, context, orderId)
    const late =
      refuseCancellation(now) ?? checkMatch(context, now, cancellation)
    if (late) return refuseCancel(now, late)
    const verdict = await writeCancel(context, tables, now, sealed)
    const { state, requested } = verdict.order
    const isUnsent = verdict.ok && state === 'voided' && requested !== 'cancel'
    return isUnsent ? { ...verdict, call: { to, data } } : verdict
  })
}

function checkMatch(
  context: Pick<OrdersContext, 'kinds'>,
  { order, attempt }: StoredOrder,
  { domain, message }: SignedCancellation,
): CancelRefusal | undefined {
  if (!hasTokenNonce(kindOf(context, order))) return 'unsupportedToken'
  const expected = cancellationOf(context, order, attempt)
  const matches =
    message.authorizer === expected.message.authorizer &&
    message.nonce === expected.message.nonce &&
    hashDomain(domain) === hashDomain(expected.domain)
  return matches ? undefined : 'otherPayment'
}

/**
 * Returns the reason why sending a cancellation would waste its gas: its
 * simulation fails, or the payment can no longer be captured anyway. Otherwise
 * returns `undefined`.
 */
async function judgeCancel(
  context: OrdersContext,
  { order, attempt }: StoredOrder,
  cancellation: SignedCancellation,
): Promise<RejectionReason | undefined> {
  const { client, wallet } = serverOf(context, order)
  const { id: orderId, chainId, submitter } = order
  if (!wallet && sendersOf(context, order).length === 0)
    throw new OrdersSetupError(
      `have no wallet ${submitter} on chain ${chainId}: add it to wallets`,
      {
        orderId,
      },
    )
  const rehearsal = await rehearseCancel(client, cancellation, {
    // The token accepts a cancellation from any account, so without a wallet
    // simulate it from the order's submitter.
    origin: wallet?.submitter.account ?? submitter,
    maxGas: context.policy.maxCaptureGas,
  })
  // The cancellation names the order's chain, so the node itself is on another
  // chain: a configuration error, not the buyer's fault.
  if (!rehearsal.ok && rehearsal.reason === 'wrongChain')
    throw wrongChain(rehearsal)
  checkChainClock(context, rehearsal.head)
  if (!rehearsal.ok && rehearsal.reason === 'consumed') return 'consumed'
  if (rehearsal.at.time >= lastSecondOf(attempt)) return 'expired'
  return rehearsal.ok ? undefined : rehearsal.reason
}

/**
 * Refusals that the signer did not cause, so they do not count as failed tries.
 */
const blameless: readonly string[] = ['consumed', 'expired', 'paused']

/**
 * Verifies a cancellation. A refused one counts against the order's limit
 * (`mostTries`), because each costs us requests to the node. Counts before it
 * asks the node, and takes the count back if the cancellation is good, so that
 * parallel requests cannot exceed the limit.
 */
async function countForged(
  context: OrdersContext,
  orderId: string,
  judge: () => Promise<CancelRefusal | undefined>,
): Promise<CancelRefusal | undefined> {
  if (!(await takeTry(context, orderId))) return 'tooManyTries'
  let isForged = false
  try {
    const refused = await judge()
    isForged = refused !== undefined && !blameless.includes(refused)
    return refused
  } finally {
    if (!isForged) await giveBack(context, orderId)
  }
}

function takeTry(context: OrdersContext, orderId: string): Promise<boolean> {
  return writeAgain(context, async (tables) => {
    const { order } = await loadOrder(tables, context, orderId)
    if (order.tries >= mostTries) return false
    await tables.orders.update([{ ...order, tries: order.tries + 1 }])
    return true
  })
}

async function giveBack(
  context: OrdersContext,
  orderId: string,
): Promise<void> {
  await writeAgain(context, async (tables) => {
    const { order } = await loadOrder(tables, context, orderId)
    const tries = Math.max(0, order.tries - 1)
    await tables.orders.update([{ ...order, tries }])
  })
}
