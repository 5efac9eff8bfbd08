import type { OrderRecord, StoreReader } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { apply, rulesOf } from '../model/apply.js'
import { atRisk } from '../model/earlyAnswer.js'

/**
 * Limits for answering a capture at `preconfirmed`, as decimals in whole
 * tokens.
 */
export type EarlyLimits = {
  /** The largest payment that may be answered early. */
  upTo: string
  /** Name of what `most` limits, such as an x402 offer. */
  name?: string | undefined
  /**
   * Largest total of early answers under that name whose capture is in no block
   * yet.
   */
  most?: string | undefined
  /**
   * `working` if the caller begins its work at `preconfirmed`, and reports by
   * `endWork` whether an answer came of it. @default 'reserved'
   */
  as?: 'reserved' | 'working' | undefined
}

/**
 * Name of the lock under which totals of early answers are read and raised, so
 * that two writers together cannot exceed a limit.
 */
export const atRiskLock = 'early'

/**
 * Reserves answers at `preconfirmed`, as part of the caller's database
 * transaction, which holds the lock `atRiskLock`. Returns the orders, with
 * `early` set where the limits allow it. The others are answered at `included`.
 *
 * A reserved answer counts against the limits as if it had been given, so the
 * limits hold for all answers whose capture is in no block yet, even after a
 * crash.
 */
export async function reserveEarly(
  context: Pick<OrdersContext, 'policy' | 'destinations' | 'now'>,
  tables: { orders: Pick<StoreReader['orders'], 'findEarly'> },
  wanted: readonly { order: OrderRecord; limits: EarlyLimits }[],
): Promise<ReadonlyMap<string, OrderRecord>> {
  const { policy, destinations } = context
  const { mostAtRisk } = policy
  const rules = rulesOf(context)
  const changed = new Map<string, OrderRecord>()
  if (!mostAtRisk) return changed
  const recipients = new Set(destinations.map(({ recipient }) => recipient))
  const sums = new Map<string, bigint>()
  const sumOf = (key: string) => sums.get(key) ?? 0n
  const known = new Set<string>()
  for (const { order, limits } of wanted) {
    const as = { as: limits.as, name: limits.name }
    const [row] = apply({ order }, { kind: 'reserve', ...as }, rules).orders
    if (!row) continue
    const { chainId, token, decimals } = order
    const place = `${chainId} ${token}`
    if (!known.has(place)) {
      known.add(place)
      for (const row of await tables.orders.findEarly({
        chainId,
        token,
        early: atRisk,
      })) {
        if (!recipients.has(row.recipient)) continue
        for (const key of keysOf(place, row))
          sums.set(key, sumOf(key) + amountOf(row))
      }
    }
    const value = amountOf(order)
    const [total, payer, name = ''] = keysOf(place, row)
    const fits = (key: string, most: string | undefined) =>
      most === undefined || sumOf(key) + value <= unitsOf(most, decimals)
    if (
      value > unitsOf(limits.upTo, decimals) ||
      !fits(total, mostAtRisk.total) ||
      !fits(payer, mostAtRisk.payer) ||
      !fits(name, limits.most)
    )
      continue
    for (const key of keysOf(place, row)) sums.set(key, sumOf(key) + value)
    changed.set(order.id, row)
  }
  return changed
}

type Summed = Pick<OrderRecord, 'payer' | 'value' | 'captureValue' | 'earlyFor'>

const amountOf = ({ value, captureValue }: Summed): bigint =>
  captureValue ?? value

/**
 * The totals that a payment counts toward: of all payments, of its payer, and
 * of its name.
 */
function keysOf(
  place: string,
  { payer, earlyFor }: Summed,
): readonly [string, string, ...string[]] {
  const named = earlyFor === undefined ? [] : [`${place} for ${earlyFor}`]
  return [place, `${place} of ${payer}`, ...named]
}

/** Converts a limit to token units. */
function unitsOf(limit: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = limit.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals))
}
