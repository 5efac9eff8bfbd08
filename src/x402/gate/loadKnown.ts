import { gatherCalls } from '../../core/gatherCalls.js'
import { isWorthAlone } from '../../store/isWorthAlone.js'
import type { StoreReader } from '../../store/types.js'
import { exchangeKey, exchangeOf } from './exchanges.js'
import type { GateContext, KnownPayment, WantedPayment } from './types.js'

/** Most payments in one database read, and most reads at the same time. */
const most = 100
const atOnce = 2

/**
 * Loads the stored records of a payment and its identifier. Combines hundreds
 * of simultaneous calls into a few database reads.
 */
export function loadKnown({
  store,
}: GateContext['context']): GateContext['loadKnown'] {
  return gatherCalls<WantedPayment, KnownPayment>({
    work: (wanted) => store.read((tables) => findKnown(tables, wanted)),
    choose: (waiting) => waiting.slice(0, most),
    atOnce,
    // Waits one turn of the event loop for other requests. SQLite reads block
    // the loop, so without waiting each request would read by itself.
    waitsForTurn: true,
    isWorthAlone,
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
