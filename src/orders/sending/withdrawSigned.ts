import type { Address } from 'viem'
import { findContracts } from '../../chain/state/findContracts.js'
import type { SubmitterState } from '../account/submitterState.js'
import { putAside } from '../loop/putAside.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { DueTransaction } from './dueTransaction.js'
import { routeName } from './planTransactions.js'
import type { SignedDrafts } from './signDrafts.js'

/** Finds the payers that got code since their payments were simulated. */
export type PayerCheck = {
  /**
   * @returns the ids of the orders of such payers in these transactions. If the
   * node does not answer, of all that share a transaction.
   */
  find(transactions: readonly DueTransaction[]): Promise<ReadonlySet<string>>
}

/** Milliseconds for which an answer about payers may be used. */
const freshFor = 1000

/**
 * Asks once more about the payers of transactions that many share, while the
 * first of these are signed: a payer that got code meanwhile could use up the gas
 * of all. One request asks for all payers of a poll.
 *
 * @param storedOrders all orders that may share a transaction in this poll.
 */
export function openPayerCheck(
  { reader, aside }: SubmitterState,
  storedOrders: readonly StoredOrder[],
): PayerCheck {
  const payers = storedOrders.flatMap(({ attempt }) => attempt.payer ?? [])
  let asked:
    | { at: number; contracts: Promise<ReadonlySet<Address>> }
    | undefined
  const ask = () => {
    const contracts = findContracts(reader, payers)
    asked = { at: performance.now(), contracts }
    return contracts
  }
  const recall = () =>
    asked && performance.now() - asked.at < freshFor ? asked.contracts : ask()
  return {
    find: async (transactions) => {
      const drafts = transactions.flatMap((one) =>
        one.drafts.length > 1 ? one.drafts : [],
      )
      if (drafts.length === 0) return new Set()
      try {
        const contracts = await recall()
        const changed = drafts.filter(({ stored: { attempt } }) => {
          const { payer } = attempt
          return payer !== undefined && contracts.has(payer)
        })
        return new Set(changed.map(({ stored }) => stored.order.id))
      } catch (error) {
        asked = undefined
        putAside(aside, routeName, error)
        return new Set(drafts.map(({ stored }) => stored.order.id))
      }
    },
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
