import type { StoredOrder } from '../model/storedOrder.js'

/** What a capture that passed its rehearsal takes, in token units. */
export type Taken = {
  payer: string
  /** What the payer has before all captures. */
  balance: bigint
  /** What the payer needs: the amount, or the ceiling. */
  pulled: bigint
  amount: bigint
}

type Due = {
  stored: StoredOrder
  draft?: unknown
  taken?: Taken | undefined
}

/**
 * Refuses captures that their payer cannot cover after the earlier ones.
 * Captures for different recipients or of different kinds are rehearsed apart.
 */
export function refuseOverdrawn<due extends Due>(
  all: readonly due[],
  refuse: (stored: StoredOrder) => due,
): due[] {
  // An account that is paid in between may have enough.
  const paid = new Set(
    all.map(({ stored: { order } }) =>
      accountOf(order, order.refundTo ?? order.recipient),
    ),
  )
  const spent = new Map<string, bigint>()
  return all.map((due) => {
    const { stored, draft, taken } = due
    if (!draft || !taken) return due
    const account = accountOf(stored.order, taken.payer)
    if (paid.has(account)) return due
    const before = spent.get(account)
    if (before !== undefined && before + taken.pulled > taken.balance)
      return refuse(stored)
    spent.set(account, (before ?? 0n) + taken.amount)
    return due
  })
}

function accountOf({ token }: StoredOrder['order'], account: string): string {
  return `${token} ${account}`
}
