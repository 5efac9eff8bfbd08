import { hashText } from '../../core/hashText.js'
import type { OrderRecord, StoreWriter } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import {
  type AdmittedRefundVerdict,
  type RefundOrderParameters,
  requestRefund,
} from './refundOrder.js'

export type LimitedRefundVerdict = AdmittedRefundVerdict<'refundLimit'>

/**
 * Like `refund`, but all requests for one recipient and token on one day (UTC)
 * must not exceed a limit together. Counts in the database transaction of the
 * request, so the limit holds across processes. A request that fails later
 * stays counted.
 *
 * @param limitOf gets the token's decimals and returns the limit in token
 * units.
 */
export function refundWithinLimit(
  context: OrdersContext,
  parameters: RefundOrderParameters,
  limitOf: (decimals: number) => bigint,
): Promise<LimitedRefundVerdict> {
  return requestRefund(context, parameters, async (tables, order, value) => {
    const limit = limitOf(order.decimals)
    const day = dayOf(context)
    const key = limitKey(order)
    await tables.lock(key)
    const [note] = await tables.notes.find({ keys: [key] })
    const isToday = note?.data.day === day
    const used = (isToday ? BigInt(String(note.data.used)) : 0n) + value
    if (used > limit) return 'refundLimit'
    await writeNote(tables, {
      key,
      version: note?.version,
      until: BigInt(Date.parse(day)) + 2n * dayLength,
      data: { day, used: String(used) },
    })
    return undefined
  })
}

async function writeNote(
  { notes }: Pick<StoreWriter, 'notes'>,
  {
    version,
    ...note
  }: {
    key: string
    version: number | undefined
    until: bigint
    data: { day: string; used: string }
  },
): Promise<void> {
  if (version === undefined) await notes.insert([note])
  else await notes.update([{ ...note, version }])
}

/** Length of a day in milliseconds. */
const dayLength = 86_400_000n

/** Returns the current day in UTC, such as `2026-11-23`. */
function dayOf({ now }: Pick<OrdersContext, 'now'>): string {
  return new Date(Number(now())).toISOString().slice(0, 10)
}

function limitKey({ chainId, token, recipient }: OrderRecord): string {
  return `refunds:${hashText(`${chainId} ${token} ${recipient}`)}`
}
