import { gatherCalls } from '../../core/gatherCalls.js'
import { StoreError } from '../../store/errors.js'
import type { PaymentStore, StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../model/types.js'

/** Work that writes one thing or nothing. */
type GatheredWrite = {
  write: (tables: StoreWriter) => Promise<unknown>
  /** Name of the lock that it takes. */
  lock: string
}

type Write = (one: GatheredWrite) => Promise<unknown>

const known = /* @__PURE__ */ new WeakMap<PaymentStore, Write>()

/** Most writes in one unit, so that other writers wait only for a moment. */
const most = 25

/**
 * Does work in one unit of work with others that wait for the store. If the
 * unit fails, each is done in a unit of its own.
 */
export async function writeGathered<result>(
  { store }: Pick<OrdersContext, 'store'>,
  {
    write,
    lock,
  }: { write: (tables: StoreWriter) => Promise<result>; lock: string },
): Promise<result> {
  const gathered = known.get(store) ?? createWrite(store)
  known.set(store, gathered)
  let results: result[] = []
  await gathered({
    lock,
    write: async (tables) => {
      results = [await write(tables)]
    },
  })
  const [result] = results
  return result as result
}

function createWrite(store: PaymentStore): Write {
  return gatherCalls<GatheredWrite, unknown>({
    work: (group) =>
      writeAgain({ store }, async (tables) => {
        for (const { write } of group) await write(tables)
        return group
      }),
    // Take several locks in the same order everywhere, to avoid deadlocks.
    choose: (waiting) =>
      waiting
        .slice(0, most)
        .sort((one, other) => (one.lock < other.lock ? -1 : 1)),
    atOnce: 1,
    // If the database failed, nobody knows whether the unit was committed.
    isWorthAlone: (error) => !(error instanceof StoreError && error.retryable),
  })
}
