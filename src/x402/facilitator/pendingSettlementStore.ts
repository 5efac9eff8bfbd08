import type { PendingSettlementStore } from '@x402/core/facilitator'
import { InvalidFieldError } from '../../core/errors.js'
import { hashText } from '../../core/hashText.js'
import type { PaymentStore } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'

/**
 * Keeps the pending settlements of a stock facilitator in a store, so that a
 * retry finds them after a restart and in every process. Pass it to
 * `ExactEvmScheme` of `@x402/evm`.
 *
 * The stock facilitator writes here only after it waited for a receipt without
 * success: it can still die between sending and writing. `createFacilitator`
 * writes each transaction down before it sends it.
 *
 * Its keys are signatures: only their hashes are kept. Entries do not end by
 * time, as those in memory do.
 *
 * @throws {@link InvalidFieldError} when the store is none. Its methods throw
 * {@link StoreError} when the store cannot be used.
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
  const { open, read, write } = Object(store)
  if (![open, read, write].every((method) => typeof method === 'function'))
    throw new InvalidFieldError('store', store, 'a store')
  let opened: Promise<unknown> | undefined
  const ready = () => {
    opened ??= store.open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  const put = async (key: string, value: { hash?: string }) => {
    await ready()
    await writeAgain({ store }, (tables) =>
      tables.setValue(pendingKey(key), value),
    )
  }
  return {
    get: async (key) => {
      await ready()
      const value = await store.read((tables) =>
        tables.getValue(pendingKey(key)),
      )
      const { hash } = Object(value)
      return typeof hash === 'string' ? hash : undefined
    },
    set: (key, hash) => put(key, { hash }),
    delete: async (key) => {
      await ready()
      const known = await store.read((tables) =>
        tables.getValue(pendingKey(key)),
      )
      // Most settlements never were pending: nothing is written for them.
      if (known?.hash !== undefined) await put(key, {})
    },
  }
}

function pendingKey(key: string): string {
  return `x402Pending:${hashText(String(key))}`
}
