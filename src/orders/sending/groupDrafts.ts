import { shareOf } from './dueTransaction.js'
import type { DueDraft } from './rehearseDue.js'

/** What limits the payments of one transaction. */
export type GroupLimits = {
  /** Drafts that may share transactions. */
  shared: ReadonlySet<DueDraft>
  /** Most payments of a transaction that carries this order's. */
  limitOf(orderId: string): number
  /** Most gas of a transaction. */
  mostGas: bigint
  /** Gas that a transaction with several payments needs besides theirs. */
  ownGas: bigint
}

/** Drafts for one transaction. */
type Group = {
  drafts: [DueDraft, ...DueDraft[]]
  /** Most payments that the transaction may carry. */
  limit: number
  gas: bigint
  bytes: number
}

/** Most bytes of call data: Geth refuses transactions above 128 kB. */
const mostBytes = 120_000

/** Bytes that a batch adds to the data of each call, at most. */
const bytesOfItem = 192

/**
 * Groups drafts into transactions, each group at the place of its first draft.
 * The payments of a group are of one token, because the gas of a transaction is
 * divided among the payments of its token.
 */
export function groupDrafts(
  drafts: readonly DueDraft[],
  { shared, limitOf, mostGas, ownGas }: GroupLimits,
): Group['drafts'][] {
  const groups: Group[] = []
  const open = new Map<string, Group>()
  for (const draft of drafts) {
    const { order } = draft.stored
    const limit = shared.has(draft) ? limitOf(order.id) : 1
    const gas = shareOf(draft)
    const bytes = draft.call.data.length / 2 + bytesOfItem
    const group = limit > 1 ? open.get(order.token) : undefined
    const isFitting =
      group !== undefined &&
      group.drafts.length < Math.min(group.limit, limit) &&
      group.gas + gas <= mostGas &&
      group.bytes + bytes <= mostBytes
    if (isFitting) {
      group.drafts.push(draft)
      group.limit = Math.min(group.limit, limit)
      group.gas += gas
      group.bytes += bytes
    } else {
      const next = { drafts: [draft], limit, gas: gas + ownGas, bytes } as Group
      groups.push(next)
      if (limit > 1) open.set(order.token, next)
    }
  }
  return groups.map((group) => group.drafts)
}
