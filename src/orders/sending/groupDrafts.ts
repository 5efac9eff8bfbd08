import type { Address } from 'viem'
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
  /** Payers of its permits. */
  payers: Set<Address | undefined>
}

/** Most bytes of call data: Geth refuses transactions above 131,072 bytes. */
const mostBytes = 130_000

/** Bytes that a batch adds to the data of each call, at most. */
const bytesOfItem = 192

/**
 * Groups drafts into transactions, each group at the place of its first draft.
 * The payments of a group are marked by the logs of one contract, because these
 * divide its gas: by those of the token, or of the contract that takes permits.
 * Of the permits of a payer a group has one, because their nonces are those of
 * one counter: if one fails, so do the next.
 */
export function groupDrafts(
  drafts: readonly DueDraft[],
  { shared, limitOf, mostGas, ownGas }: GroupLimits,
): Group['drafts'][] {
  const groups: Group[] = []
  const open = new Map<string, Group>()
  for (const draft of drafts) {
    const { order, attempt } = draft.stored
    const isPermit = order.primaryType === 'Permit'
    const marking = isPermit ? draft.call.to : order.token
    const limit = shared.has(draft) ? limitOf(order.id) : 1
    const gas = shareOf(draft)
    const bytes = draft.call.data.length / 2 + bytesOfItem
    const group = limit > 1 ? open.get(marking) : undefined
    const isFitting =
      group !== undefined &&
      !group.payers.has(attempt.payer) &&
      group.drafts.length < Math.min(group.limit, limit) &&
      group.gas + gas <= mostGas &&
      group.bytes + bytes <= mostBytes
    if (isFitting) {
      group.drafts.push(draft)
      group.limit = Math.min(group.limit, limit)
      group.gas += gas
      group.bytes += bytes
      if (isPermit) group.payers.add(attempt.payer)
    } else {
      const payers = new Set(isPermit ? [attempt.payer] : [])
      const started: Group = {
        drafts: [draft],
        limit,
        gas: gas + ownGas,
        bytes,
        payers,
      }
      groups.push(started)
      if (limit > 1) open.set(marking, started)
    }
  }
  return groups.map((group) => group.drafts)
}
