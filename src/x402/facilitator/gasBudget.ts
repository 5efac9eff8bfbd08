import { hashText } from '../../core/hashText.js'
import type { OrdersContext } from '../../orders/engine.js'
import type {
  NoteQuery,
  NoteRecord,
  Reader,
  StoreWriter,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { SettledCaller } from './facilitatorContext.js'

/** Gas reserved for one transaction, and the day whose budget it is taken from. */
export type KeptGas = { day: string; gas: bigint }

type Context = Pick<OrdersContext, 'store' | 'policy' | 'now'>

/**
 * True when the caller's budget has room for one more transaction.
 *
 * @param gas the most gas that it may use.
 */
export async function hasGas(
  context: Context,
  caller: SettledCaller,
  gas: bigint = context.policy.maxCaptureGas,
): Promise<boolean> {
  const { gasPerDay } = caller
  if (gasPerDay === undefined) return true
  const { used } = await context.store.read((tables) =>
    loadUsed(tables, caller, dayOf(context)),
  )
  return used + gas <= gasPerDay
}

/**
 * Reserves the most gas that a transaction may use, from the caller's budget of
 * today. Returns `undefined` if less than that is left, and `0n` gas if the
 * caller has no budget. If the process dies before it creates the order, the
 * gas stays reserved until tomorrow.
 */
export async function reserveCallerGas(
  context: Context,
  caller: SettledCaller,
  gas: bigint = context.policy.maxCaptureGas,
): Promise<KeptGas | undefined> {
  const { gasPerDay } = caller
  const day = dayOf(context)
  if (gasPerDay === undefined) return { day, gas: 0n }
  return writeAgain(context, async (tables) => {
    await tables.lock(budgetKey(caller))
    const found = await loadUsed(tables, caller, day)
    if (found.used + gas > gasPerDay) return undefined
    await writeUsed(tables, caller, { ...found, used: found.used + gas })
    return { day, gas }
  })
}

/** Replaces the gas reserved for a capture by the gas that it used. */
export async function settleGas(
  tables: StoreWriter,
  caller: SettledCaller,
  { kept, used }: { kept: KeptGas; used: bigint },
): Promise<void> {
  if (kept.gas === 0n) return
  await tables.lock(budgetKey(caller))
  const found = await loadUsed(tables, caller, kept.day)
  // Each day has a budget of its own: a capture that was reserved yesterday
  // does not change today's.
  if (found.note?.data.day !== kept.day) return
  const total = found.used - kept.gas + used
  await writeUsed(tables, caller, { ...found, used: total > 0n ? total : 0n })
}

type UsedGas = { day: string; used: bigint; note: NoteRecord | undefined }

async function loadUsed(
  { notes }: { notes: Reader<NoteRecord, NoteQuery> },
  caller: SettledCaller,
  day: string,
): Promise<UsedGas> {
  const [note] = await notes.find({ keys: [budgetKey(caller)] })
  const isToday = note?.data.day === day
  return { day, note, used: isToday ? BigInt(String(note.data.used)) : 0n }
}

async function writeUsed(
  { notes }: Pick<StoreWriter, 'notes'>,
  caller: SettledCaller,
  { day, used, note }: UsedGas,
): Promise<void> {
  const key = budgetKey(caller)
  const until = BigInt(Date.parse(day)) + 2n * dayLength
  const data = { day, used: String(used) }
  if (note) await notes.update([{ key, until, data, version: note.version }])
  else await notes.insert([{ key, until, data }])
}

/** Milliseconds of one day. */
const dayLength = 86_400_000n

/** Returns today's date in UTC, such as `2026-11-23`. */
function dayOf({ now }: Context): string {
  return new Date(Number(now())).toISOString().slice(0, 10)
}

/**
 * Key of the stored budget. Contains a hash of the caller's name, so that every
 * key has the same length.
 */
function budgetKey({ name }: SettledCaller): string {
  return `x402Gas:${hashText(name)}`
}
