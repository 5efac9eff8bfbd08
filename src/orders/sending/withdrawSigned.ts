import { findContracts } from '../../chain/state/findContracts.js'
import type { SubmitterState } from '../account/submitterState.js'
import { putAside } from '../loop/putAside.js'
import type { DueTransaction } from './dueTransaction.js'
import { routeName } from './planTransactions.js'
import type { SignedDrafts } from './signDrafts.js'

/**
 * Asks once more about the payers of transactions that many share, while these
 * are signed: a payer that got code meanwhile could use up the gas of all.
 *
 * @returns the ids of the orders of such payers. If the node does not answer,
 * of all that share a transaction.
 */
export async function findChanged(
  { reader, aside }: SubmitterState,
  transactions: readonly DueTransaction[],
): Promise<ReadonlySet<string>> {
  const drafts = transactions.flatMap((one) =>
    one.drafts.length > 1 ? one.drafts : [],
  )
  if (drafts.length === 0) return new Set()
  const payerOf = ({ stored }: (typeof drafts)[number]) => stored.attempt.payer
  const payers = drafts.flatMap((draft) => payerOf(draft) ?? [])
  try {
    const contracts = await findContracts(reader, payers)
    const changed = drafts.filter((draft) => {
      const payer = payerOf(draft)
      return payer !== undefined && contracts.has(payer)
    })
    return new Set(changed.map(({ stored }) => stored.order.id))
  } catch (error) {
    putAside(aside, routeName, error)
    return new Set(drafts.map(({ stored }) => stored.order.id))
  }
}

/**
 * Takes back the first transaction that has one of these orders, and all after
 * it, because the account nonces must have no gap. Nobody has seen them. Their
 * orders are due again at the next poll, these ones each alone.
 */
export function withdrawSigned(
  { batches }: SubmitterState,
  signed: SignedDrafts,
  changed: ReadonlySet<string>,
): SignedDrafts {
  if (changed.size === 0) return signed
  for (const id of changed) batches.noteLeft(id, 1, false)
  const isChanged = ({ drafts }: DueTransaction) =>
    drafts.some(({ stored }) => changed.has(stored.order.id))
  const first = signed.ready.findIndex(isChanged)
  const kept = first < 0 ? signed.ready.length : first
  return {
    ...signed,
    signed: signed.signed.slice(0, kept),
    ready: signed.ready.slice(0, kept),
    left: { due: [], bumps: [] },
  }
}
