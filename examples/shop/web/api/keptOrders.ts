/** What this browser keeps of an order it placed. */
export type KeptOrder = {
  /** Proves to be the buyer; never in a URL. */
  buyerToken: string
  product: string
  /** What the buyer was shown, a decimal in whole tokens. */
  amount: string
  /** Whether `amount` is exact or the ceiling. */
  total: 'amount' | 'atMost'
}

const prefix = 'order:'

export function keepOrder(orderId: string, order: KeptOrder): void {
  localStorage.setItem(prefix + orderId, JSON.stringify(order))
}

export function findKeptOrder(orderId: string): KeptOrder | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(prefix + orderId) ?? '')
    const { buyerToken, product, amount } = kept
    const total = kept.total === 'atMost' ? 'atMost' : 'amount'
    return typeof buyerToken === 'string' && typeof amount === 'string'
      ? { buyerToken, product, amount, total }
      : undefined
  } catch {
    return undefined
  }
}
