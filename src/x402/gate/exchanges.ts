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

/**
 * Key of the store's note that records how far the work for an order has come.
 */
export const exchangeKey = (orderId: string): string => `${prefix}${orderId}`

/**
 * Returns the order id in a key of `exchangeKey`; `undefined` for any other
 * key.
 */
export const orderIdOfKey = (key: string): string | undefined =>
  key.startsWith(prefix) ? key.slice(prefix.length) : undefined

/** Loads the record of how far the work for an order has come. */
export async function loadExchange(
  { notes }: Pick<StoreReader, 'notes'>,
  orderId: string,
): Promise<ExchangeNote | undefined> {
  const [note] = await notes.find({ keys: [exchangeKey(orderId)] })
  return exchangeOf(note)
}

/** Reads from its note how far the work for an order has come. */
export function exchangeOf(
  note: NoteRecord | undefined,
): ExchangeNote | undefined {
  // Only a gate writes notes under these keys, by `noteOf`: the type is right.
  return note && { ...note, data: note.data as unknown as Exchange }
}

/** Builds the note that stores how far the work for an order has come. */
export function noteOf({
  key,
  until,
  data,
}: Omit<ExchangeNote, 'version'>): Omit<NoteRecord, 'version'> {
  return { key, until, data: toData(data) }
}

/**
 * An order that buys nothing any more, because the work for it failed or was
 * interrupted.
 */
type GivenUp = {
  orderId: string
  payer: Address
  reason: string
  /** True when the capture comes before the work. */
  isUpfront: boolean
}

/**
 * Changes the record of how far the work has come, by compare-and-set. Returns
 * `undefined`, and writes nothing, when another process changed it first.
 *
 * @param also.givenUp the order to void or refund in the same unit of work.
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
  // Without `upfront` the order can be paid too: the payer can submit the
  // payment themselves while the handler runs.
  const isPaid = isUpfront || (state === 'captured' && !unexpected)
  if (isPaid) await raiseRefund(context, tables, stored, { payer, reason })
  else if (state === 'stored') await writeVoid(context, tables, stored)
}

/** Removes members that are `undefined`, which JSON cannot hold. */
function toData({ answer, ...data }: Exchange): JsonObject {
  return answer === undefined ? data : { ...data, answer }
}
