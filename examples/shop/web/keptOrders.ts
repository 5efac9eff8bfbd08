import type { Basket } from '../basket.js'

/** What this browser keeps of an order it placed. */
export type KeptOrder = {
  orderId: string
  /** Proves to be the buyer; never in a URL. */
  buyerToken: string
  basket: Basket
  /** Unix milliseconds. */
  placedAt: number
}

const key = 'orders'

export function keepOrder(order: KeptOrder): void {
  localStorage.setItem(key, JSON.stringify([order, ...readOrders()]))
}

/** The newest first. */
export function readOrders(): readonly KeptOrder[] {
  return JSON.parse(localStorage.getItem(key) ?? '[]')
}

export function findOrder(orderId: string): KeptOrder | undefined {
  return readOrders().find((order) => order.orderId === orderId)
}
