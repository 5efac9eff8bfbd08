import type { Address } from 'viem'
import type { VerifiedAt } from '../../core/types.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { AttemptRecord, StoreWriter } from '../../store/types.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { sumSpentSince } from './sumSpentSince.js'

/** A payer to load, and the payment that is to be accepted. */
export type AskedPayer = {
  context: Pick<OrdersContext, 'destinations'>
  found: Pick<StoredOrder, 'order' | 'attempt'>
  payer: Address
  /** The block at which the payer's balance was read. */
  at: VerifiedAt
}

/** What the store knows about a payer. */
export type KnownPayer = {
  /** The other payments that this payer could be charged for. */
  others: readonly AttemptRecord[]
  /** Token units that the payer paid since the balance was read. */
  spent: bigint
  /**
   * True when one of the payer's orders in this instance waits for the merchant
   * because a capture failed on chain. Then a new order waits too.
   */
  isHeld: boolean
}

/** Returns what was loaded for one of the payers. */
export type LoadedPayers = (asked: AskedPayer) => KnownPayer

/** Loads several payers in a few statements. */
export async function loadPayers(
  tables: StoreWriter,
  asked: readonly AskedPayer[],
): Promise<LoadedPayers> {
  const exposures = new Map<AskedPayer, AttemptRecord[]>()
  for (const one of asked) {
    const { chainId, token } = one.found.order
    const all = await tables.attempts.find({
      exposure: { chainId, token, payer: one.payer },
    })
    const { nonce } = one.found.attempt
    exposures.set(
      one,
      all.filter((attempt) => attempt.nonce !== nonce),
    )
  }
  // Sum after loading the open payments: a payment that settles in between
  // counts twice, which is safe, instead of never.
  const spent = await sumSpentSince(tables, asked)
  const ids = [...exposures.values()].flat().map(({ orderId }) => orderId)
  const needReview = [...new Set(ids)]
  const held = await tables.orders.find({ needReview })
  return (one) => {
    const others = exposures.get(one)
    if (!others) throw new Error('A payer was not loaded.')
    const own = new Set(others.map(({ orderId }) => orderId))
    return {
      others,
      spent: spent.get(one) ?? 0n,
      isHeld: held.some(
        (order) =>
          own.has(order.id) &&
          isInDestinations(order, one.context.destinations),
      ),
    }
  }
}
