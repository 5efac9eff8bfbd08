import type { EventRecord, PaymentStore, StoreWriter } from 'countersign/store'
import type { Boundaries } from './boundaries.js'
import { tellLease } from './toldLeases.js'

/**
 * A store whose every call is a boundary. A write dies before it is committed,
 * with its statements already made, or after it was.
 */
export function passStore(
  store: PaymentStore,
  boundaries: Boundaries,
): PaymentStore {
  const { pass, reach, leave } = boundaries
  return {
    ...store,
    open: () => pass('open', () => store.open()),
    read: (work) => pass('read', () => store.read(work)),
    write: async (work, options) => {
      let point: string | undefined
      try {
        return await store.write(async (tables) => {
          const { noted, written } = noteWrites(tables)
          const result = await work(noted)
          point = reach(`write ${written()}`)
          return result
        }, options)
      } finally {
        if (point) leave(point)
      }
    },
    takeLease: (wanted) =>
      pass(`takeLease ${kindOf(wanted.key)}`, async () => {
        const lease = await store.takeLease(wanted)
        if (lease) tellLease(lease)
        return lease
      }),
    releaseLease: (lease) =>
      pass(`releaseLease ${kindOf(lease.key)}`, () =>
        store.releaseLease(lease),
      ),
  }
}

const kindOf = (key: string): string => key.split(':')[0] ?? key

/** What a write is known by: its events, else the tables it touches. */
function noteWrites(tables: StoreWriter): {
  noted: StoreWriter
  written: () => string
} {
  const types: string[] = []
  const touched = new Set<string>()
  const noteTable = <table extends object>(name: string, table: table): table =>
    new Proxy(table, {
      get: (target, method) => {
        const call: unknown = Reflect.get(target, method)
        if (typeof call !== 'function') return call
        return (...parameters: unknown[]) => {
          if (method !== 'find' && method !== 'count') touched.add(name)
          if (method === 'append') types.push(...typesOf(parameters[0]))
          return call.apply(target, parameters)
        }
      },
    })
  const noted: StoreWriter = {
    orders: noteTable('orders', tables.orders),
    attempts: noteTable('attempts', tables.attempts),
    transactions: noteTable('transactions', tables.transactions),
    proofs: noteTable('proofs', tables.proofs),
    events: noteTable('events', tables.events),
    notes: noteTable('notes', tables.notes),
    subscriptions: noteTable('subscriptions', tables.subscriptions),
    channels: noteTable('channels', tables.channels),
    recipients: noteTable('recipients', tables.recipients),
    getValue: (key) => tables.getValue(key),
    setValue: (key, value) => {
      touched.add(`value ${kindOf(key)}`)
      return tables.setValue(key, value)
    },
    lock: (name) => tables.lock(name),
  }
  return {
    noted,
    written: () =>
      [...new Set(types), ...[...touched].filter((name) => name !== 'events')]
        .sort()
        .join(' ') || 'nothing',
  }
}

function typesOf(rows: unknown): string[] {
  return Array.isArray(rows)
    ? rows.map((row: Pick<EventRecord, 'type'>) => row.type)
    : []
}
