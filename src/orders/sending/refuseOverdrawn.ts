import type { StoredOrder } from '../model/storedOrder.js'

/** What a simulated capture takes from its payer, in token units. */
export type Taken = {
  payer: string
  /** The payer's balance before all captures. */
  balance: bigint
  /**
   * The balance that the capture needs: its amount, or the ceiling that the
   * payer signed.
   */
  pulled: bigint
  amount: bigint
}

type Due = {
  stored: StoredOrder
  draft?: unknown
  taken?: Taken | undefined
}

/**
 * Refuses captures that their payer's balance cannot cover after the earlier
 * ones. Captures of different recipients or kinds are simulated in separate
 * calls, which do not see each other's transfers.
 */
export function refuseOverdrawn<due extends Due>(
  all: readonly due[],
  refuse: (stored: StoredOrder) => due,
): due[] {
  // A capture may pay an account that is itself a payer here, and that has
  // enough balance then.
  const paid = new Set(
    all.map(({ stored: { order } }) =>
      accountOf(order, order.payee ?? order.recipient),
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
