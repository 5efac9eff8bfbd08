import { checkMembers, type MembersOf } from '../core/checkMembers.js'
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

/** What {@link memoryStore} takes. */
export type MemoryStoreParameters = {
  /** Says that every order may be lost with the process. */
  volatile?: true | undefined
}

const members: MembersOf<MemoryStoreParameters> = {
  volatile: true,
}

/**
 * Keeps orders in memory, for tests and trials.
 *
 * Nothing outlives the process, and no other process sees it. One unit of work
 * runs after the other: a `write` inside another one's work never ends.
 *
 * @throws {@link StoreError} outside of tests, unless `volatile` is `true`.
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
  checkMembers(parameters, members)
  if (Object(parameters).volatile !== true && !isTest())
    throw new StoreError(
      'in memory loses every order with the process, which only volatile: true allows',
    )
  const identity = drawNonce()
  const listeners = new Set<() => void>()
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
      // Who reads goes on seeing the state it began with.
      if (state.readers)
        state = { tables: copyTables(state.tables), readers: 0 }
      keepStages(state.tables, unit.stages)
      for (const listener of listeners) queueMicrotask(listener)
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
      const own = () => listener()
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
