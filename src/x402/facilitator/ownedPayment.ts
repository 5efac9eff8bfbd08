import { hashText } from '../../core/hashText.js'
import type { SignedPayment } from '../../core/types.js'
import { loadOrders } from '../../orders/model/loadOrders.js'
import type { StoredOrder } from '../../orders/model/storedOrder.js'
import type { OrdersContext } from '../../orders/model/types.js'
import type {
  HeldLease,
  JsonObject,
  Lease,
  StoreWriter,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { SettledCaller } from './facilitatorDesk.js'
import type { FacilitatorCall } from './parseCall.js'

/** A payment that `/settle` took, with what is known of its answers. */
export type OwnedPayment = {
  found: StoredOrder
  /** A success was answered for it. */
  answered: boolean
  /** The `/settle` that is working on it now, if one is. */
  held: HeldLease | undefined
}

type Context = Pick<OrdersContext, 'store'>

/** The id of the order that captures a payment: the same for the same nonce. */
export function orderIdOf({ domain, message }: SignedPayment): string {
  const { chainId, verifyingContract } = domain
  const { from, nonce } = message
  const parts = [chainId, verifyingContract, from, nonce]
  return `x402-settle-${hashText(parts.join(' ')).slice(2)}`
}

/** What an order keeps of the call that it was made for. */
export function ownerOf(
  { name }: SettledCaller,
  { resource }: FacilitatorCall,
): JsonObject {
  return { x402: { settledFor: name, resource: hashText(resource) } }
}

/** True when the order was made for this caller and this resource. */
export function isOwnedBy(
  { found }: OwnedPayment,
  caller: SettledCaller,
  call: FacilitatorCall,
): boolean {
  const { x402 } = ownerOf(caller, call)
  const own = Object(found.order.metadata.x402)
  const wanted = Object(x402)
  return (
    own.settledFor === wanted.settledFor && own.resource === wanted.resource
  )
}

/** Loads what `/settle` made of a payment; nothing where it never took it. */
export function loadOwned(
  { store }: Context,
  orderId: string,
): Promise<OwnedPayment | undefined> {
  return store.read(async (tables) => {
    const orders = await loadOrders(tables, { ids: [orderId] })
    const found = orders.get(orderId)
    if (!found) return undefined
    return {
      found,
      answered: (await tables.getValue(answeredKey(orderId))) !== undefined,
      held: await tables.getLease(settleKey(orderId)),
    }
  })
}

/**
 * Marks that a success is answered now, while the lease is held. False when one
 * was answered before.
 *
 * @param also writes more in the same unit of work.
 * @throws {@link LeaseLostError} when another call has the lease.
 */
export function markAnswered(
  context: Context,
  orderId: string,
  {
    lease,
    also,
  }: { lease: Lease; also: (tables: StoreWriter) => Promise<void> },
): Promise<boolean> {
  const key = answeredKey(orderId)
  return writeAgain(
    context,
    async (tables) => {
      await tables.lock(key)
      await also(tables)
      if (await tables.getValue(key)) return false
      await tables.setValue(key, { answered: true })
      return true
    },
    { lease },
  )
}

/** The lease under which one `/settle` at a time works on a payment. */
export function settleKey(orderId: string): string {
  return `x402Settle:${orderId}`
}

function answeredKey(orderId: string): string {
  return `x402Answered:${orderId}`
}
