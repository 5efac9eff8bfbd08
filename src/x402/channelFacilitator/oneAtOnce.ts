import type { StoreReader, StoreWriter } from '../../store/types.js'

/** Names the newest movement of its kind of a channel. */
type NamedMovement = {
  /** Key of the note that holds the name. */
  key: string
  id: string
}

export const depositPlace = (channelId: string): string =>
  `x402Deposit:${channelId}`

export const refundPlace = (channelId: string): string =>
  `x402Refund:${channelId}`

/**
 * True while another movement of the same kind can still be made: a client or
 * server that lost the answer may ask for a second one.
 */
export async function hasOther(
  tables: Pick<StoreReader, 'notes'> & {
    orders: Pick<StoreReader['orders'], 'find'>
  },
  { key, id }: NamedMovement,
): Promise<boolean> {
  const [note] = await tables.notes.find({ keys: [key] })
  const other = note?.data.id
  if (typeof other !== 'string' || other === id) return false
  const [found] = await tables.orders.find({ ids: [other] })
  const { state, requested } = found ?? {}
  return (
    state === 'capturing' || (state === 'stored' && requested !== undefined)
  )
}

/**
 * Keeps the name of a movement, in the write that stores it. Returns false if
 * another one can still be made.
 *
 * @param named.until Unix seconds until which the name is kept.
 */
export async function admitOne(
  tables: StoreWriter,
  { key, id, until: seconds }: NamedMovement & { until: bigint },
): Promise<boolean> {
  await tables.lock(key)
  if (await hasOther(tables, { key, id })) return false
  const { notes } = tables
  const until = seconds * 1000n
  const data = { id }
  const [note] = await notes.find({ keys: [key] })
  if (note) await notes.update([{ key, until, data, version: note.version }])
  else await notes.insert([{ key, until, data }])
  return true
}
