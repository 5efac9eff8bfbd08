import { hashText } from '../../core/hashText.js'
import type { OrdersContext } from '../../orders/model/types.js'
import type { StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { SettledCaller } from './facilitatorDesk.js'

/** Gas that was kept for one capture, and the day it counts for. */
export type KeptGas = { day: string; gas: bigint }

type Context = Pick<OrdersContext, 'store' | 'policy' | 'now'>

/** True when the caller's budget has room for one more capture. */
export async function hasGas(
  context: Context,
  caller: SettledCaller,
): Promise<boolean> {
  const { gasPerDay } = caller
  if (gasPerDay === undefined) return true
  const value = await context.store.read((tables) =>
    tables.getValue(budgetKey(caller)),
  )
  const used = usedOn(dayOf(context), value)
  return used + context.policy.maxCaptureGas <= gasPerDay
}

/**
 * Keeps the most gas that one capture may use, of the caller's budget for today.
 * Nothing where the budget has no room; `0n` where there is no budget.
 */
export async function keepGas(
  context: Context,
  caller: SettledCaller,
): Promise<KeptGas | undefined> {
  const { gasPerDay } = caller
  const day = dayOf(context)
  if (gasPerDay === undefined) return { day, gas: 0n }
  const gas = context.policy.maxCaptureGas
  const key = budgetKey(caller)
  return writeAgain(context, async (tables) => {
    await tables.lock(key)
    const used = usedOn(day, await tables.getValue(key))
    if (used + gas > gasPerDay) return undefined
    await tables.setValue(key, { day, used: String(used + gas) })
    return { day, gas }
  })
}

/** Replaces what was kept by the gas that was used. */
export async function settleGas(
  tables: StoreWriter,
  caller: SettledCaller,
  { kept, used }: { kept: KeptGas; used: bigint },
): Promise<void> {
  if (kept.gas === 0n) return
  const key = budgetKey(caller)
  await tables.lock(key)
  const value = await tables.getValue(key)
  // Another day has begun: what was kept yesterday does not count today.
  if (Object(value).day !== kept.day) return
  const total = usedOn(kept.day, value) - kept.gas + used
  await tables.setValue(key, {
    day: kept.day,
    used: String(total > 0n ? total : 0n),
  })
}

function usedOn(day: string, value: unknown): bigint {
  const kept = Object(value)
  return kept.day === day ? BigInt(kept.used) : 0n
}

/** The day in UTC, such as `2026-11-23`. */
function dayOf({ now }: Context): string {
  return new Date(Number(now())).toISOString().slice(0, 10)
}

/** By a hash: a caller's name may have any length. */
function budgetKey({ name }: SettledCaller): string {
  return `x402Gas:${hashText(name)}`
}
