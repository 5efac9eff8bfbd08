import type { StoreReader } from '../store/types.js'
import { countEach, countOrders } from './orderCounts.js'
import { findChannels } from './sqlChannels.js'
import {
  findAttempts,
  findEvents,
  findProofs,
  findTransactions,
} from './sqlFinds.js'
import { loadSqlLease } from './sqlLeases.js'
import { toRecord } from './sqlMovements.js'
import { findNotes } from './sqlNotes.js'
import { type Finder, findEarly, findOrders } from './sqlOrders.js'
import { findRecipients } from './sqlRecipients.js'
import { countSecretKeys, findSecretOrders } from './sqlSecrets.js'
import { findValues, loadValue, parseValue } from './sqlSettings.js'
import { findSubscriptions } from './sqlSubscriptions.js'
import type { SqlUnit } from './sqlUnit.js'
import type { VersionedRow } from './tables/seenRows.js'
import {
  attemptTable,
  channelTable,
  noteTable,
  orderTable,
  proofTable,
  type SqlTable,
  subscriptionTable,
  transactionTable,
} from './tables/sqlTables.js'

export function sqlReader(finder: Finder, unit: SqlUnit): StoreReader {
  const { session, dialect } = finder
  const see = <row extends VersionedRow>(
    table: SqlTable<row>,
    find: () => Promise<row[]>,
  ) =>
    unit.run(async () => {
      const rows = await find()
      unit.seen.keep(table, rows)
      return rows
    })
  return {
    orders: {
      find: (query) => see(orderTable, () => findOrders(finder, query)),
      count: (destinations) =>
        unit.run(() => countOrders(finder, destinations)),
      countEach: (destinations) =>
        unit.run(() => countEach(finder, destinations)),
      findEarly: (query) => unit.run(() => findEarly(finder, query)),
    },
    attempts: {
      find: (query) => see(attemptTable, () => findAttempts(finder, query)),
    },
    transactions: {
      find: async (query) => {
        const find = () => findTransactions(finder, query)
        return (await see(transactionTable, find)).map(toRecord)
      },
    },
    proofs: {
      find: (query) => see(proofTable, () => findProofs(finder, query)),
    },
    events: { find: (query) => unit.run(() => findEvents(finder, query)) },
    notes: { find: (query) => see(noteTable, () => findNotes(finder, query)) },
    subscriptions: {
      find: (query) =>
        see(subscriptionTable, () => findSubscriptions(finder, query)),
    },
    channels: {
      find: (query) => see(channelTable, () => findChannels(finder, query)),
    },
    recipients: {
      find: (query) => unit.run(() => findRecipients(finder, query)),
    },
    getValue: (key) =>
      unit.run(async () => parseValue(key, await loadValue(finder, key))),
    findValues: (prefix) => unit.run(() => findValues(finder, prefix)),
    getLease: (key) => unit.run(() => loadSqlLease(session, dialect, key)),
    secrets: {
      countKeys: (destinations) =>
        unit.run(() => countSecretKeys(finder, destinations)),
      findOrderIds: (query) => unit.run(() => findSecretOrders(finder, query)),
    },
  }
}
