import type { PendingSettlementStore } from '@x402/core/facilitator'
import { hashText } from '../../core/hashText.js'
import type {
  NoteQuery,
  NoteRecord,
  PaymentStore,
  Reader,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { openOnce } from './openOnce.js'

/**
 * Keeps the pending settlements of the facilitator of `@x402/evm` in a store,
 * so that a retry finds them after a restart and in every process. Pass it to
 * `ExactEvmScheme` of that package.
 *
 * The facilitator of `@x402/evm` writes to this store only after it has waited
 * for a receipt and got none: a crash between sending and that write still
 * loses the transaction. `createFacilitator` stores each transaction before it
 * sends it.
 *
 * The keys of the entries are signatures, so this store keeps only their
 * hashes. It keeps entries for a week; the default store of `@x402/evm` keeps
 * them in memory for five minutes.
 *
 * @throws {@link InvalidFieldError} when `store` is not a store. Its methods
 * throw {@link StoreError} when the store cannot be used.
 *
 * @example
 * ```ts
 * import { pendingSettlementStore } from 'countersign/x402'
 * import { sqliteStore } from 'countersign/sql'
 *
 * const pending = pendingSettlementStore(sqliteStore({ file: 'x402.db' }))
 * // new ExactEvmScheme(signer, { pendingSettlementStore: pending })
 * ```
 */
export function pendingSettlementStore(
  store: PaymentStore,
): PendingSettlementStore {
  const ready = openOnce(store)
  const load = async (key: string) => {
    await ready()
    return store.read((tables) => findPending(tables, key))
  }
  return {
    get: async (key) => {
      const note = await load(key)
      const { hash } = Object(note?.data)
      return typeof hash === 'string' ? hash : undefined
    },
    set: async (key, hash) => {
      await ready()
      const until = BigInt(Date.now()) + keptFor
      await writeAgain({ store }, async (tables) => {
        const pending = { key: pendingKey(key), until, data: { hash } }
        await tables.lock(pending.key)
        const note = await findPending(tables, key)
        if (note)
          await tables.notes.update([{ ...pending, version: note.version }])
        else await tables.notes.insert([pending])
      })
    },
    delete: async (key) => {
      // Most settlements were never pending. Reads first, to save a write for
      // those.
      if (!(await load(key))) return
      await store.write((tables) => tables.notes.remove([pendingKey(key)]))
    },
  }
}

/**
 * Milliseconds that an entry is kept. Longer than an x402 payment is valid:
 * after that, its settlement can no longer be pending.
 */
const keptFor = 7n * 86_400_000n

async function findPending(
  { notes }: { notes: Reader<NoteRecord, NoteQuery> },
  key: string,
): Promise<NoteRecord | undefined> {
  const [note] = await notes.find({ keys: [pendingKey(key)] })
  return note
}

function pendingKey(key: string): string {
  return `x402Pending:${hashText(String(key))}`
}
