import { checkMembers } from '../core/checkMembers.js'
import { drawNonce } from '../core/drawNonce.js'
import { StoreError } from './errors.js'
import { memoryLeases } from './memoryLeases.js'
import {
  copyTables,
  emptyTables,
  keepStages,
  stageReader,
  stageTables,
} from './memoryTables.js'
import { startUnit } from './memoryUnit.js'
import type { PaymentStore } from './types.js'

/** Options of {@link memoryStore}. */
export type MemoryStoreParameters = {
  /**
   * Confirms that all orders may be lost when the process ends. Required
   * outside of tests.
   */
  volatile?: true | undefined
}

/**
 * Creates a store that keeps orders in memory, for tests and trials.
 *
 * All orders are lost when the process ends. Other processes cannot see them.
 * Calls of `write` run one after the other, so a `write` inside another `write`
 * never ends.
 *
 * @throws {@link StoreError} outside tests, unless `volatile` is `true`.
 *
 * @example
 * ```ts
 * import { memoryStore } from 'countersign/store'
 *
 * const store = memoryStore({ volatile: true })
 * await store.open()
 * ```
 */
export function memoryStore(
  parameters: MemoryStoreParameters = {},
): PaymentStore {
  checkMembers(parameters, ['volatile'])
  if (Object(parameters).volatile !== true && !isTest())
    throw new StoreError(
      'in memory loses every order when the process ends: pass volatile: true to allow this',
    )
  const identity = drawNonce()
  const listeners = new Set<(by?: string) => void>()
  const leases = memoryLeases()
  let state = { tables: emptyTables(), readers: 0 }
  let last: Promise<unknown> = Promise.resolve()

  const read: PaymentStore['read'] = async (work) => {
    const seen = state
    seen.readers++
    try {
      return await work({
        ...stageReader(stageTables(seen.tables)),
        getLease: async (key) => leases.find(key),
      })
    } finally {
      seen.readers--
    }
  }
  const runUnit: PaymentStore['write'] = async (work, { lease } = {}) => {
    if (lease) leases.check(lease)
    const unit = startUnit(state.tables)
    try {
      const result = await work(unit.writer)
      unit.check()
      if (lease) leases.check(lease)
      // Copies the tables before the change, so that reads in progress keep
      // their snapshot.
      if (state.readers)
        state = { tables: copyTables(state.tables), readers: 0 }
      keepStages(state.tables, unit.stages)
      // A write under a lease that adds no event changes only rows that its own
      // worker uses. So it notifies no listener.
      if (!lease || unit.stages.events.staged.rows.size > 0)
        for (const listener of listeners)
          queueMicrotask(() => listener(lease?.key))
      return result
    } finally {
      unit.close()
    }
  }
  return {
    open: async () => ({ identity }),
    read,
    write: (work, options) => {
      const unit = last.then(() => runUnit(work, options))
      last = unit.catch(() => undefined)
      return unit
    },
    takeLease: async (wanted) => leases.take(wanted),
    releaseLease: async (lease) => leases.release(lease),
    onChange: (listener) => {
      const own = (by?: string) => listener(by)
      listeners.add(own)
      return () => {
        listeners.delete(own)
      }
    },
    close: async () => undefined,
  }
}

function isTest(): boolean {
  const { env = {} } = Object(Reflect.get(globalThis, 'process'))
  return env.NODE_ENV === 'test' || Boolean(env.VITEST)
}
