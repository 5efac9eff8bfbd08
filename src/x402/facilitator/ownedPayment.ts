import { hashText } from '../../core/hashText.js'
import {
  loadOrders,
  type OrdersContext,
  type StoredOrder,
} from '../../orders/engine.js'
import type {
  JsonObject,
  Lease,
  LeaseHolder,
  StoreWriter,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { SettledCaller } from './facilitatorContext.js'
import type { KeptGas } from './gasBudget.js'
import type { FacilitatorCall } from './parseCall.js'

/** A payment that `/settle` accepted, and whether its caller got a success. */
export type OwnedPayment = {
  found: StoredOrder
  /** True when `/settle` returned a success for this payment. */
  answered: boolean
  /**
   * The lease of the `/settle` call that works on this payment now. Absent if
   * none does.
   */
  held: LeaseHolder | undefined
}

type Context = Pick<OrdersContext, 'store' | 'now'>

/**
 * Builds the metadata of an order: which call created it, and the gas reserved
 * for its capture.
 */
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
 * True when this caller created the order for the same resource and payload,
 * and recipient and value are those of this call. Comparing only the payment
 * nonce is not enough: everybody can read it on chain.
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

/** Returns the gas that was reserved for the capture of an order. */
export function keptGasOf({ metadata }: { metadata: JsonObject }): KeptGas {
  const { day, kept } = Object(Object(metadata.x402).gas)
  return { day: String(day), gas: BigInt(kept ?? 0) }
}

/**
 * Milliseconds after the end of a payment's validity in which `/settle` can
 * still return a success. After that it never does, so the record of whether it
 * did can be removed.
 */
const keptAfterWindow = 86_400_000n

/**
 * Loads a payment that an earlier `/settle` call accepted. Returns `undefined`
 * for any other payment.
 */
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
 * Records that `/settle` now returns a success. Returns false if an earlier
 * call returned one, or if the time for a success is over.
 *
 * @param settle writes the used gas in the same database transaction. @throws
 * {@link LeaseLostError} when another call has the lease.
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

/** Key of the lease that lets one `/settle` at a time work on a payment. */
export function settleKey(orderId: string): string {
  return `x402Settle:${orderId}`
}

function answeredKey(orderId: string): string {
  return `x402Answered:${orderId}`
}
