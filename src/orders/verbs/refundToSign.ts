import type { Client } from 'viem'
import { getHeads, isSameBlock } from '../../chain/state/getHeads.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { parseOrderId } from '../../core/parseOrderId.js'
import type { OrdersContext } from '../context/types.js'
import { clientOf } from '../evidence/clientOf.js'
import { RefundNotFoundError } from '../model/errors.js'
import { loadRefund } from '../model/loadRefund.js'
import { refundPaymentOf } from '../model/paymentOf.js'
import { refundIdOf } from '../model/refundRow.js'
import type { RefundToSignVerdict } from '../model/refundVerdicts.js'
import { showRefund } from '../model/showRefund.js'
import type { StoredRefund } from '../model/storedOrder.js'
import { isSuspended } from '../model/storeState.js'
import { prepareRefund, type RefundView } from '../watcher/prepareRefund.js'
import { parseWindow } from './newAttempt.js'
import { loadShown } from './orderLoader.js'

/** Parameters of `refundToSign`: which refund to sign, and for how long. */
export type RefundToSignParameters = {
  orderId: string
  refundId: string
  /**
   * Seconds from now until the signature expires. @default `policy.maxWindow`
   */
  window?: bigint | undefined
}

const members: MembersOf<RefundToSignParameters> = {
  orderId: true,
  refundId: true,
  window: true,
}

/** Implements `refundToSign` of `DestinationOrders`. */
export async function refundToSign(
  context: OrdersContext,
  parameters: RefundToSignParameters,
): Promise<RefundToSignVerdict> {
  checkMembers(parameters, members)
  const { policy } = context
  const window = parseWindow(policy, parameters.window ?? policy.maxWindow)
  const found = await findRefund(context, parameters)
  const { row } = found
  if (row.state !== 'drafted' || row.reason !== undefined)
    return refused(found, 'notOpen')
  if (await context.store.read(isSuspended)) return refused(found, 'suspended')
  const view = await viewChain(context, clientOf(context, row))
  const offer = await prepareRefund(context, view, { row, window })
  if (offer.ok) return toSign(offer.refund)
  return refused(await findRefund(context, parameters), offer.reason)
}

/**
 * Finds a refund of one of this instance's orders.
 *
 * @throws {@link OrderNotFoundError} {@link RefundNotFoundError}
 */
export async function findRefund(
  context: OrdersContext,
  parameters: { orderId: string; refundId: string },
): Promise<StoredRefund> {
  const { orderId } = parameters
  const refundId = parseOrderId(parameters.refundId, 'refundId')
  const { refunds = [] } = await loadShown(context, orderId)
  const known = refunds.find(({ row }) => refundIdOf(row) === refundId)
  const found =
    known &&
    (await context.store.read((tables) => loadRefund(tables, known.row.id)))
  if (found) return found
  throw new RefundNotFoundError({ orderId, refundId })
}

/**
 * Reads the final block twice, because a single answer of the node may be
 * wrong.
 */
async function viewChain(
  context: OrdersContext,
  client: Client,
): Promise<RefundView> {
  const { policy } = context
  const { finalized } = await getHeads(client, policy)
  const numbers = finalized ? [finalized.number] : []
  const { latest, blocks } = await getHeads(client, policy, numbers)
  const isSure =
    finalized !== undefined &&
    isSameBlock(finalized, blocks.get(finalized.number))
  return {
    client,
    finalized: isSure ? finalized.number : undefined,
    time: latest.timestamp,
    lease: undefined,
  }
}

function toSign({ row, stored }: StoredRefund): RefundToSignVerdict {
  return {
    ok: true,
    refund: showRefund(stored, row),
    payment: refundPaymentOf(row, stored.attempt),
  }
}

function refused(
  { row, stored }: StoredRefund,
  reason: Extract<RefundToSignVerdict, { ok: false }>['reason'],
): RefundToSignVerdict {
  return { ok: false, reason, refund: showRefund(stored, row) }
}
