import type { DueDraft, RehearsedDue } from './rehearseDue.js'

/** A capture that passed its rehearsal, and what its payer needs for it. */
export type TakenDue = RehearsedDue & { taken?: Taken | undefined }

/** Token units. */
export type Taken = {
  payer: string
  /** What the payer has before all captures. */
  balance: bigint
  /** What the payer needs: the amount, or the ceiling. */
  pulled: bigint
  amount: bigint
}

/**
 * Refuses captures that their payer cannot cover after the earlier ones.
 * Captures for different recipients or of different kinds are rehearsed apart.
 */
export function refuseOverdrawn(all: readonly TakenDue[]): RehearsedDue[] {
  // An account that is paid in between may have enough.
  const paid = new Set(
    all.map(({ stored: { order } }) =>
      accountOf(order, order.refundTo ?? order.recipient),
    ),
  )
  const spent = new Map<string, bigint>()
  return all.map(({ taken, ...due }) => {
    if (!due.draft || !taken) return due
    const account = accountOf(due.stored.order, taken.payer)
    if (paid.has(account)) return due
    const before = spent.get(account)
    if (before !== undefined && before + taken.pulled > taken.balance)
      return { stored: due.stored, reason: 'insufficientFunds' }
    spent.set(account, (before ?? 0n) + taken.amount)
    return due
  })
}

function accountOf(
  { token }: DueDraft['stored']['order'],
  account: string,
): string {
  return `${token} ${account}`
}
