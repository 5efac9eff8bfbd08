import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { requireKysely, storeLater } from '../sql/storeLater.js'
import { StoreError } from '../store/errors.js'
import type { PaymentStore } from '../store/types.js'
import type { DurableStorage } from './durableStorage.js'

/** Options of {@link durableObjectStore}. */
export type DurableObjectStoreParameters = {
  /**
   * Any text that you change with each point-in-time recovery, such as the
   * bookmark that you restored. The store cannot notice a recovery by itself:
   * with another text than before, it counts as a restored backup, once.
   */
  restored?: string | undefined
}

/**
 * Creates a store in the SQLite database of a Cloudflare Durable Object: one
 * object for one shop. Needs the package `kysely`, which it loads when it is
 * first used.
 *
 * Each write is one transaction. It can resolve before the write is durable.
 * Cloudflare holds back all requests and responses of the object until it is
 * (its output gate), and restarts the object if that fails: so nothing that
 * rests on a lost write leaves the object. Not promised for what you send from
 * elsewhere, and for the object's writes with `allowUnconfirmed`.
 *
 * Use the object's SQL for nothing else, and do not call `deleteAll`.
 *
 * @param storage the `ctx.storage` of an object whose class has SQLite, as
 * listed under `new_sqlite_classes`. Pass it itself, not a copy: two stores
 * share one object only if both have the same storage.
 *
 * @throws {@link StoreError} when `storage` has no SQL.
 * @throws {@link InvalidFieldError} when `restored` is not a text.
 *
 * @example
 * ```ts
 * import { type DurableStorage, durableObjectStore } from 'countersign/durable'
 *
 * class Shop {
 *   readonly store
 *
 *   constructor(ctx: { storage: DurableStorage }) {
 *     this.store = durableObjectStore(ctx.storage)
 *   }
 * }
 * ```
 */
export function durableObjectStore(
  storage: DurableStorage,
  parameters: DurableObjectStoreParameters = {},
): PaymentStore {
  checkStorage(storage)
  checkMembers(parameters, ['restored'])
  const { restored } = parameters
  if (restored !== undefined && typeof restored !== 'string')
    throw new InvalidFieldError('restored', shown(restored), 'a text')
  const load = async () => {
    await requireKysely()
    const { createSqlStore } = await import('../sql/sqlStore.js')
    const { durableEngine } = await import('./durableEngine.js')
    return createSqlStore(durableEngine(storage, { restored }))
  }
  return storeLater(load, { notifies: true })
}

/** @throws {@link StoreError} when the storage has no SQL. */
function checkStorage(storage: unknown): void {
  const { transactionSync } = Object(storage)
  if (typeof transactionSync !== 'function' || !hasSql(storage))
    throw new StoreError(
      'needs the storage of a Durable Object with SQLite: pass ctx.storage, and list the class under new_sqlite_classes',
    )
}

function hasSql(storage: unknown): boolean {
  try {
    return typeof Object(storage).sql?.exec === 'function'
  } catch {
    // `sql` throws in a class without SQLite.
    return false
  }
}
