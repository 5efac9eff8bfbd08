import {
  type Destination,
  memoryStore,
  type PaymentStore,
  type Reader,
  type StoreReader,
  type StoreWriter,
} from 'countersign/store'
import type { CreateStore } from 'countersign/testing'

/** Makes the handles of a store that has one thing wrong. */
export type Broken = () => CreateStore

/** A store with one defect, and the names of the store cases that must fail on it. */
export type BrokenStore = {
  defect: string
  make: Broken
  fails: readonly string[]
}

type Options = Parameters<PaymentStore['write']>[1]

/** One store for all handles, in parts another one than it should be. */
export const inStore =
  (spoil: (store: PaymentStore) => Partial<PaymentStore>): Broken =>
  () => {
    const inner = memoryStore({ volatile: true })
    const store = { ...inner, ...spoil(inner) }
    return () => store
  }

/** What a unit of work and a read have in common. */
type Finds = Omit<StoreReader, 'getLease'>

/** Wrong in what it finds, inside a unit of work and outside. */
export const inFinds = (twist: (reader: Finds) => Partial<Finds>): Broken =>
  inStore((store) => ({
    read: (work) => store.read((it) => work({ ...it, ...twist(it) })),
    write: (work, options) =>
      store.write((it) => {
        const count = async () => ({})
        const secrets = {
          countKeys: async () => ({}),
          findOrderIds: async () => [],
        }
        const orders = { ...it.orders, count, countEach: async () => [] }
        const findValues = async () => []
        const found = twist({ ...it, orders, findValues, secrets })
        return work({
          orders: { ...it.orders, ...found.orders },
          attempts: { ...it.attempts, ...found.attempts },
          transactions: { ...it.transactions, ...found.transactions },
          proofs: { ...it.proofs, ...found.proofs },
          events: { ...it.events, ...found.events },
          notes: { ...it.notes, ...found.notes },
          subscriptions: { ...it.subscriptions, ...found.subscriptions },
          channels: { ...it.channels, ...found.channels },
          recipients: { ...it.recipients, ...found.recipients },
          getValue: found.getValue ?? it.getValue,
          setValue: it.setValue,
          lock: it.lock,
        })
      }, options),
  }))

/** Wrong in how it writes. */
export const inWrites = (
  twist: (writer: StoreWriter, store: PaymentStore) => Partial<StoreWriter>,
): Broken =>
  inStore((store) => ({
    write: (work, options) =>
      store.write((it) => work({ ...it, ...twist(it, store) }), options),
  }))

export const mapRows = <row, query, more>(
  table: Reader<row, query> & more,
  edit: (rows: row[], query: query) => row[],
) => ({
  ...table,
  find: async (query: query) => edit(await table.find(query), query),
})

const toAscii = (text: string) => text.replace(/[^ -~]/g, '?')

export const asciiJson = (value: object): Readonly<Record<string, unknown>> =>
  JSON.parse(toAscii(JSON.stringify(value)))

export const narrow = <row extends { value: bigint }>(row: row): row => ({
  ...row,
  value: BigInt.asUintN(64, row.value),
})

export const sortBy = <row>(
  rows: readonly row[],
  text: (row: row) => string,
): row[] => [...rows].sort((left, right) => (text(left) < text(right) ? -1 : 1))

/** Every destination made of parts of these. */
export const crossed = (destinations: readonly Destination[]): Destination[] =>
  destinations.flatMap(({ chainId }) =>
    destinations.flatMap(({ token }) =>
      destinations.map(({ recipient }) => ({ chainId, token, recipient })),
    ),
  )

/** Each write is kept at once. */
export const withoutUnits = (
  store: PaymentStore,
  options?: Options,
): StoreWriter => {
  const { read, write } = store
  return {
    orders: {
      find: (query) => read((it) => it.orders.find(query)),
      insert: (rows) => write((it) => it.orders.insert(rows), options),
      update: (rows) => write((it) => it.orders.update(rows), options),
      findEarly: (query) => read((it) => it.orders.findEarly(query)),
    },
    attempts: {
      find: (query) => read((it) => it.attempts.find(query)),
      insert: (rows) => write((it) => it.attempts.insert(rows), options),
      update: (rows) => write((it) => it.attempts.update(rows), options),
    },
    transactions: {
      find: (query) => read((it) => it.transactions.find(query)),
      insert: (rows) => write((it) => it.transactions.insert(rows), options),
      update: (rows) => write((it) => it.transactions.update(rows), options),
    },
    proofs: {
      find: (query) => read((it) => it.proofs.find(query)),
      insert: (rows) => write((it) => it.proofs.insert(rows), options),
      update: (rows) => write((it) => it.proofs.update(rows), options),
    },
    events: {
      find: (query) => read((it) => it.events.find(query)),
      append: (rows) => write((it) => it.events.append(rows), options),
    },
    notes: {
      find: (query) => read((it) => it.notes.find(query)),
      insert: (rows) => write((it) => it.notes.insert(rows), options),
      update: (rows) => write((it) => it.notes.update(rows), options),
      remove: (keys) => write((it) => it.notes.remove(keys), options),
    },
    subscriptions: {
      find: (query) => read((it) => it.subscriptions.find(query)),
      insert: (rows) => write((it) => it.subscriptions.insert(rows), options),
      update: (rows) => write((it) => it.subscriptions.update(rows), options),
    },
    channels: {
      find: (query) => read((it) => it.channels.find(query)),
      insert: (rows) => write((it) => it.channels.insert(rows), options),
      update: (rows) => write((it) => it.channels.update(rows), options),
    },
    recipients: {
      find: (query) => read((it) => it.recipients.find(query)),
      insert: (rows) => write((it) => it.recipients.insert(rows), options),
      update: (rows) => write((it) => it.recipients.update(rows), options),
    },
    getValue: (key) => read((it) => it.getValue(key)),
    setValue: (key, value) => write((it) => it.setValue(key, value), options),
    lock: async () => undefined,
  }
}

/** Leaves out the rows that are there already. */
export async function skipKnown<row>(
  rows: readonly row[],
  findSame: (row: row) => Promise<unknown[]>,
  insert: (rows: readonly row[]) => Promise<void>,
): Promise<void> {
  for (const row of rows)
    if ((await findSame(row)).length === 0) await insert([row])
}

/** Writes with the version that is there, whichever was read. */
export async function overwrite<row extends { version: number }>(
  rows: readonly row[],
  findSame: (row: row) => Promise<row[]>,
  update: (rows: readonly row[]) => Promise<void>,
): Promise<void> {
  for (const row of rows)
    for (const { version } of await findSame(row))
      await update([{ ...row, version }])
}

/** Leaves the fields alone that are to become absent. */
export async function merge<row extends { version: number }>(
  rows: readonly row[],
  findSame: (row: row) => Promise<row[]>,
  update: (rows: readonly row[]) => Promise<void>,
): Promise<void> {
  for (const row of rows)
    for (const old of await findSame(row)) {
      const given = Object.entries(row).filter(([, it]) => it !== undefined)
      await update([{ ...old, ...Object.fromEntries(given) }])
    }
}

/** The writes of all tables done another way. */
export const changedUpdates =
  (change: typeof overwrite): ((writer: StoreWriter) => Partial<StoreWriter>) =>
  ({ orders, attempts, transactions, proofs }) => ({
    orders: {
      ...orders,
      update: (rows) =>
        change(rows, ({ id }) => orders.find({ ids: [id] }), orders.update),
    },
    attempts: {
      ...attempts,
      update: (rows) =>
        change(
          rows,
          ({ nonce }) => attempts.find({ nonces: [nonce] }),
          attempts.update,
        ),
    },
    transactions: {
      ...transactions,
      update: (rows) =>
        change(
          rows,
          async ({ chainId, account, nonce, bump }) => {
            const at = { chainId, account }
            const found = await transactions.find({ at, nonce })
            return found.filter((row) => row.bump === bump)
          },
          transactions.update,
        ),
    },
    proofs: {
      ...proofs,
      update: (rows) =>
        change(
          rows,
          ({ chainId, transactionHash }) =>
            proofs.find({ chainId, hashes: [transactionHash] }),
          proofs.update,
        ),
    },
  })
