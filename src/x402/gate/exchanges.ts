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
 * Key of the store's record of how far the processing of an order's payment has
 * come.
 */
export const exchangeKey = (orderId: string): string => `${prefix}${orderId}`

/**
 * Returns the order id in a key made by `exchangeKey`, and `undefined` for any
 * other key.
 */
export const orderIdOfKey = (key: string): string | undefined =>
  key.startsWith(prefix) ? key.slice(prefix.length) : undefined

/** Loads the record of how far the processing of a payment has come. */
export async function loadExchange(
  { notes }: Pick<StoreReader, 'notes'>,
  orderId: string,
): Promise<ExchangeNote | undefined> {
  const [note] = await notes.find({ keys: [exchangeKey(orderId)] })
  return exchangeOf(note)
}

/** Types a stored record as the progress of a payment. */
export function exchangeOf(
  note: NoteRecord | undefined,
): ExchangeNote | undefined {
  // The cast is safe, because only `noteOf` builds the records under these
  // keys.
  return note && { ...note, data: note.data as unknown as Exchange }
}

/** Builds the stored record of how far the processing of a payment has come. */
export function noteOf({
  key,
  until,
  data,
}: Omit<ExchangeNote, 'version'>): Omit<NoteRecord, 'version'> {
  return { key, until, data: toData(data) }
}

/**
 * An order whose payment buys nothing any more, because the handler failed or
 * was interrupted.
 */
type GivenUp = {
  orderId: string
  payer: Address
  reason: string
  /** True when the payment is captured before the handler runs. */
  isUpfront: boolean
}

/**
 * Changes the record of how far the processing of a payment has come. Compares
 * its version first: if another process has changed it, writes nothing and
 * returns `undefined`.
 *
 * @param also.givenUp the order to void or refund in the same database
 * transaction.
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

/**
 * Voids the order. If it was captured already, raises the event `refundDue`
 * instead.
 */
async function giveUpOrder(
  context: GateContext['context'],
  tables: StoreWriter,
  { orderId, payer, reason, isUpfront }: GivenUp,
): Promise<void> {
  const stored = await loadOrder(tables, context, orderId)
  const { state, unexpected } = stored.order
  // An order without `upfront` can be paid too: anyone who has the signed
  // payment can submit it while the handler runs.
  const isPaid = isUpfront || (state === 'captured' && !unexpected)
  if (isPaid) await raiseRefund(context, tables, stored, { payer, reason })
  else if (state === 'stored')
    await writeVoid(context, tables, stored, { endsReview: false })
}

/** Removes members that are `undefined`, which JSON cannot hold. */
function toData({ answer, ...data }: Exchange): JsonObject {
  return answer === undefined ? data : { ...data, answer }
}
