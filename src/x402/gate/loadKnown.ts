import { gatherCalls } from '../../core/gatherCalls.js'
import type { StoreReader } from '../../store/types.js'
import { exchangeKey, exchangeOf } from './exchanges.js'
import type { GateContext, KnownPayment, WantedPayment } from './types.js'

/** Most payments in one read, and most reads at once. */
const most = 100
const atOnce = 2

/**
 * Loads what is stored for a payment and its identifier. Gathers hundreds of
 * calls at once into a few reads.
 */
export function loadKnown({
  store,
}: GateContext['context']): GateContext['loadKnown'] {
  return gatherCalls<WantedPayment, KnownPayment>({
    work: (wanted) => store.read((tables) => findKnown(tables, wanted)),
    choose: (waiting) => waiting.slice(0, most),
    atOnce,
    // Waits for other requests of this turn of the event loop. Reads of SQLite
    // block, so without that each request would make a read of its own.
    waitsForTurn: true,
    // If one payment has a malformed row, the common read fails for all. Read
    // each alone then.
    isWorthAlone: (error) => Object(error).retryable !== true,
  })
}

async function findKnown(
  { notes, attempts }: StoreReader,
  wanted: readonly WantedPayment[],
): Promise<KnownPayment[]> {
  const keys = wanted.flatMap(({ orderId, identifier }) =>
    identifier === undefined
      ? [exchangeKey(orderId)]
      : [exchangeKey(orderId), identifier],
  )
  const found = new Map(
    (await notes.find({ keys })).map((note) => [note.key, note]),
  )
  const unknown = wanted.filter(
    ({ orderId }) => !found.has(exchangeKey(orderId)),
  )
  const nonces = unknown.map(({ nonce }) => nonce)
  const taken = nonces.length === 0 ? [] : await attempts.find({ nonces })
  const spent = new Set(taken.map(({ nonce }) => nonce))
  return wanted.map(({ orderId, nonce, payload, identifier = '' }) => {
    const named = found.get(identifier)
    const note = exchangeOf(found.get(exchangeKey(orderId)))
    return {
      note,
      conflict: named !== undefined && named.data.payload !== payload,
      isSpent: note === undefined && spent.has(nonce),
    }
  })
}
