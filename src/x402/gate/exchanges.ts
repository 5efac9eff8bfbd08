import type { Address } from 'viem'
import { loadOrder, raiseRefund, writeVoid } from '../../orders/engine.js'
import { StaleRecordError } from '../../store/errors.js'
import type {
  JsonObject,
  NoteRecord,
  StoreReader,
  StoreWriter,
} from '../../store/types.js'
import type { Exchange, ExchangeNote, GateContext } from './types.js'

const prefix = 'x402:gate:'

/** Key of the note of an exchange. */
export const exchangeKey = (orderId: string): string => `${prefix}${orderId}`

/** The order id in the key of an exchange; `undefined` for other notes. */
export const orderIdOfKey = (key: string): string | undefined =>
  key.startsWith(prefix) ? key.slice(prefix.length) : undefined

/** Loads the exchange of an order. */
export async function loadExchange(
  { notes }: Pick<StoreReader, 'notes'>,
  orderId: string,
): Promise<ExchangeNote | undefined> {
  const [note] = await notes.find({ keys: [exchangeKey(orderId)] })
  return exchangeOf(note)
}

/** The exchange in a note under `exchangeKey`. */
export function exchangeOf(
  note: NoteRecord | undefined,
): ExchangeNote | undefined {
  // Only this part writes under these keys.
  return note && { ...note, data: note.data as unknown as Exchange }
}

/** Returns the row of an exchange without its version. */
export function noteOf({
  key,
  until,
  data,
}: Omit<ExchangeNote, 'version'>): Omit<NoteRecord, 'version'> {
  return { key, until, data: toData(data) }
}

/** A payment for which no more work is done. */
type GivenUp = {
  orderId: string
  payer: Address
  reason: string
  /** True when the capture comes before the work. */
  isUpfront: boolean
}

/**
 * Moves an exchange on by compare-and-set. `undefined` when another process
 * moved it first: then nothing was written.
 *
 * @param also.givenUp the order that this step gives up.
 */
export async function changeExchange(
  { context }: Pick<GateContext, 'context'>,
  note: ExchangeNote,
  change: Partial<Exchange>,
  also: { givenUp?: GivenUp | undefined } = {},
): Promise<ExchangeNote | undefined> {
  const data: Exchange = { ...note.data, ...change }
  const { givenUp } = also
  try {
    await context.store.write(async (tables) => {
      const { version } = note
      await tables.notes.update([{ ...noteOf({ ...note, data }), version }])
      if (givenUp) await giveUpOrder(context, tables, givenUp)
    })
    return { ...note, version: note.version + 1, data }
  } catch (error) {
    if (error instanceof StaleRecordError) return undefined
    throw error
  }
}

/** Makes a refund due if the order was captured, and voids it otherwise. */
async function giveUpOrder(
  context: GateContext['context'],
  tables: StoreWriter,
  { orderId, payer, reason, isUpfront }: GivenUp,
): Promise<void> {
  const stored = await loadOrder(tables, context, orderId)
  const { state, unexpected } = stored.order
  // The payer can submit the payment too, even during the work.
  const isPaid = isUpfront || (state === 'captured' && !unexpected)
  if (isPaid) await raiseRefund(context, tables, stored, { payer, reason })
  else if (state === 'stored') await writeVoid(context, tables, stored)
}

/** Removes members that are `undefined`, which JSON cannot hold. */
function toData({ answer, ...data }: Exchange): JsonObject {
  return answer === undefined ? data : { ...data, answer }
}
