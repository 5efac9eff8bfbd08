import { InvalidFieldError } from '../base/errors.js'
import type {
  OrderEvent,
  OrderEventType,
  OrdersContext,
} from '../ledger/types.js'
import type { EventRecord } from '../store/types.js'
import { readLimit } from './listOrders.js'

export type ReadEventsParameters = {
  /** The `cursor` of what was read last. @default 0n, the beginning */
  after?: bigint | undefined
  /** At most 1000. @default 100 */
  limit?: number | undefined
}

export type ReadEvents = {
  events: readonly OrderEvent[]
  /** To go on from; remember it once the events are dealt with. */
  cursor: bigint
}

/**
 * Reads what happened, in one order for all who read, from a cursor on.
 *
 * Whoever forgets the cursor is told again: an event is dealt with at least
 * once, and known again by its own `cursor`.
 *
 * @throws {@link InvalidFieldError} when cursor or limit are malformed.
 */
export async function readEvents(
  { store, scopes }: OrdersContext,
  parameters: ReadEventsParameters = {},
): Promise<ReadEvents> {
  const { after = 0n } = parameters
  if (typeof after !== 'bigint' || after < 0n)
    throw new InvalidFieldError('after', after, 'a cursor of events')
  const limit = readLimit(parameters.limit, { usual: 100, most: 1_000 })
  const rows = await store.read(({ events }) =>
    events.find({ scopes, after, limit }),
  )
  return { events: rows.map(showEvent), cursor: rows.at(-1)?.cursor ?? after }
}

function showEvent({ type, ...row }: EventRecord): OrderEvent {
  // Only orders write events, and by this type.
  return { ...row, type: type as OrderEventType }
}
