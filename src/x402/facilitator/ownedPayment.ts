import { hashText } from '../../core/hashText.js'
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

type Context = Pick<OrdersContext, 'store' | 'now'>

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

/**
 * Milliseconds after its window for which a payment can still be answered with
 * a success. After that it counts as answered, and what was noted may go.
 */
const keptAfterWindow = 86_400_000n

/** Loads what `/settle` made of a payment; nothing where it never took it. */
export function loadOwned(
  { store, now }: Context,
  orderId: string,
): Promise<OwnedPayment | undefined> {
  return store.read(async (tables) => {
    const orders = await loadOrders(tables, { ids: [orderId] })
    const found = orders.get(orderId)
    if (!found) return undefined
    const notes = await tables.notes.find({ keys: [answeredKey(orderId)] })
    return {
      found,
      answered: notes.length > 0 || answerableUntil(found) <= now(),
      held: await tables.getLease(settleKey(orderId)),
    }
  })
}

function answerableUntil({ attempt }: StoredOrder): bigint {
  return attempt.validBefore * 1_000n + keptAfterWindow
}

/**
 * Marks that a success is answered now, while the lease is held. False when one
 * was answered before.
 *
 * @param also writes more in the same unit of work.
 * @throws {@link LeaseLostError} when another call has the lease.
 */
export async function markAnswered(
  { store, now }: Context,
  orderId: string,
  {
    lease,
    also,
  }: { lease: Lease; also: (tables: StoreWriter) => Promise<void> },
): Promise<boolean> {
  return writeAgain(
    { store },
    async (tables) => {
      await also(tables)
      const owned = await loadAnswered(tables, orderId)
      if (!owned || owned.isAnswered || owned.until <= now()) return false
      const { until } = owned
      await tables.notes.insert([
        { key: answeredKey(orderId), until, data: {} },
      ])
      return true
    },
    { lease },
  )
}

async function loadAnswered(
  tables: StoreWriter,
  orderId: string,
): Promise<{ isAnswered: boolean; until: bigint } | undefined> {
  const orders = await loadOrders(tables, { ids: [orderId] })
  const found = orders.get(orderId)
  const notes = await tables.notes.find({ keys: [answeredKey(orderId)] })
  return (
    found && { isAnswered: notes.length > 0, until: answerableUntil(found) }
  )
}

/** The lease under which one `/settle` at a time works on a payment. */
export function settleKey(orderId: string): string {
  return `x402Settle:${orderId}`
}

function answeredKey(orderId: string): string {
  return `x402Answered:${orderId}`
}
