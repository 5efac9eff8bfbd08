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
import type { KeptGas } from './gasBudget.js'
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
  { resource, payloadHash }: FacilitatorCall,
  { day, gas }: KeptGas,
): JsonObject {
  return {
    x402: {
      settledFor: name,
      resource: hashText(resource),
      payload: payloadHash,
      gas: { day, kept: String(gas) },
    },
  }
}

/**
 * True when the order was made for this caller, resource and payload, and pays
 * what is asked for now. A nonce alone proves nothing: everybody can read it.
 */
export function isOwnedBy(
  { found: { order } }: OwnedPayment,
  { name }: SettledCaller,
  { resource, payloadHash, recipient, value }: FacilitatorCall,
): boolean {
  const own = Object(order.metadata.x402)
  return (
    own.settledFor === name &&
    own.resource === hashText(resource) &&
    own.payload === payloadHash &&
    order.recipient === recipient &&
    order.value === value
  )
}

/** The gas that was kept for the capture of an order. */
export function keptGasOf({ metadata }: { metadata: JsonObject }): KeptGas {
  const { day, kept } = Object(Object(metadata.x402).gas)
  return { day: String(day), gas: BigInt(kept ?? 0) }
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
 * @param settle writes in the same unit of work what became of the gas.
 * @throws {@link LeaseLostError} when another call has the lease.
 */
export async function markAnswered(
  { store, now }: Context,
  orderId: string,
  {
    lease,
    settle,
  }: {
    lease: Lease
    settle: (tables: StoreWriter, kept: KeptGas) => Promise<void>
  },
): Promise<boolean> {
  return writeAgain(
    { store },
    async (tables) => {
      const key = answeredKey(orderId)
      const orders = await loadOrders(tables, { ids: [orderId] })
      const found = orders.get(orderId)
      const until = found ? answerableUntil(found) : 0n
      const [note] = await tables.notes.find({ keys: [key] })
      if (!found || note || until <= now()) return false
      await tables.notes.insert([{ key, until, data: {} }])
      await settle(tables, keptGasOf(found.order))
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
