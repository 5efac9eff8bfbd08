import type { Address } from 'viem'
import type { VerifiedAt } from '../../core/types.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { AttemptRecord, StoreWriter } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { sumSpentSince } from './sumSpentSince.js'

/** A payer to load, and the block at which its payment was verified. */
export type AskedPayer = {
  context: Pick<OrdersContext, 'destinations'>
  found: Pick<StoredOrder, 'order' | 'attempt'>
  payer: Address
  /** The block at which the payer's balance was read. */
  at: VerifiedAt
}

/** What the store knows about a payer before its payment is accepted. */
export type KnownPayer = {
  /** The payer's other payments that can still be captured. */
  others: readonly AttemptRecord[]
  /** Token units that the payer has paid since its balance was read. */
  spent: bigint
  /**
   * True if one of the payer's orders waits for the merchant because its
   * capture failed on chain. A new order of this payer then waits too.
   */
  isHeld: boolean
}

/** Finds a loaded payer. */
export type LoadedPayers = (asked: AskedPayer) => KnownPayer

/** Loads several payers in a few database queries. */
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
  // Sum after loading the open payments: a payment that is captured between the
  // two then counts twice, which is safe. In the other sequence it would not
  // count at all.
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
