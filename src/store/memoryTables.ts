import { channelKeys, filterChannels } from './memoryChannels.js'
import {
  attemptKeys,
  eventKeys,
  filterAttempts,
  filterEvents,
  filterProofs,
  filterTransactions,
  proofKeys,
  transactionKeys,
} from './memoryLedger.js'
import { filterNotes, noteKeys } from './memoryNotes.js'
import {
  countEachState,
  countStates,
  filterEarly,
  filterOrders,
  orderKeys,
} from './memoryOrders.js'
import { filterRecipients, recipientKeys } from './memoryRecipients.js'
import { secretsReader } from './memorySecrets.js'
import { filterSubscriptions, subscriptionKeys } from './memorySubscriptions.js'
import {
  copyTable,
  emptyTable,
  keepStaged,
  type MemoryTable,
  type RowKeys,
  type StagedTable,
  stageTable,
} from './memoryTable.js'
import type {
  AttemptRecord,
  ChannelRecord,
  EventRecord,
  NoteRecord,
  OrderRecord,
  ProofRecord,
  RecipientRecord,
  StoredValue,
  StoreReader,
  SubscriptionRecord,
  TransactionRecord,
} from './types.js'

export type MemoryTables = {
  orders: MemoryTable<OrderRecord>
  attempts: MemoryTable<AttemptRecord>
  transactions: MemoryTable<TransactionRecord>
  proofs: MemoryTable<ProofRecord>
  events: MemoryTable<EventRecord>
  notes: MemoryTable<NoteRecord>
  subscriptions: MemoryTable<SubscriptionRecord>
  channels: MemoryTable<ChannelRecord>
  recipients: MemoryTable<RecipientRecord>
  values: MemoryTable<{ key: string; value: StoredValue }>
}

export type MemoryStages = {
  [name in keyof MemoryTables]: MemoryTables[name] extends MemoryTable<
    infer row
  >
    ? StagedTable<row>
    : never
}

const valueKeys: RowKeys<{ key: string; value: StoredValue }> = {
  table: 'values',
  identity: ({ key }) => key,
  words: () => [],
}

export function emptyTables(): MemoryTables {
  return {
    orders: emptyTable(orderKeys),
    attempts: emptyTable(attemptKeys),
    transactions: emptyTable(transactionKeys),
    proofs: emptyTable(proofKeys),
    events: emptyTable(eventKeys),
    notes: emptyTable(noteKeys),
    subscriptions: emptyTable(subscriptionKeys),
    channels: emptyTable(channelKeys),
    recipients: emptyTable(recipientKeys),
    values: emptyTable(valueKeys),
  }
}

export function copyTables(tables: MemoryTables): MemoryTables {
  return {
    orders: copyTable(tables.orders),
    attempts: copyTable(tables.attempts),
    transactions: copyTable(tables.transactions),
    proofs: copyTable(tables.proofs),
    events: copyTable(tables.events),
    notes: copyTable(tables.notes),
    subscriptions: copyTable(tables.subscriptions),
    channels: copyTable(tables.channels),
    recipients: copyTable(tables.recipients),
    values: copyTable(tables.values),
  }
}

export function stageTables(tables: MemoryTables): MemoryStages {
  return {
    orders: stageTable(tables.orders),
    attempts: stageTable(tables.attempts),
    transactions: stageTable(tables.transactions),
    proofs: stageTable(tables.proofs),
    events: stageTable(tables.events),
    notes: stageTable(tables.notes),
    subscriptions: stageTable(tables.subscriptions),
    channels: stageTable(tables.channels),
    recipients: stageTable(tables.recipients),
    values: stageTable(tables.values),
  }
}

export function keepStages(tables: MemoryTables, stages: MemoryStages): void {
  keepStaged(tables.orders, stages.orders)
  keepStaged(tables.attempts, stages.attempts)
  keepStaged(tables.transactions, stages.transactions)
  keepStaged(tables.proofs, stages.proofs)
  keepStaged(tables.events, stages.events)
  keepStaged(tables.notes, stages.notes)
  keepStaged(tables.subscriptions, stages.subscriptions)
  keepStaged(tables.channels, stages.channels)
  keepStaged(tables.recipients, stages.recipients)
  keepStaged(tables.values, stages.values)
}

/**
 * Answers queries from the tables and from the uncommitted changes of a
 * transaction.
 */
export function stageReader(
  stages: MemoryStages,
): Omit<StoreReader, 'getLease'> {
  const { orders, attempts, transactions, proofs, events, notes, values } =
    stages
  const { subscriptions, channels, recipients } = stages
  return {
    orders: {
      find: async (query) => filterOrders(orders, query),
      count: async (destinations) => countStates(orders, destinations),
      countEach: async (destinations) => countEachState(orders, destinations),
      findEarly: async (query) => filterEarly(orders, query),
    },
    attempts: { find: async (query) => filterAttempts(attempts, query) },
    transactions: {
      find: async (query) => filterTransactions(transactions, query),
    },
    proofs: { find: async (query) => filterProofs(proofs, query) },
    events: { find: async (query) => filterEvents(events, query) },
    notes: { find: async (query) => filterNotes(notes, query) },
    subscriptions: {
      find: async (query) => filterSubscriptions(subscriptions, query),
    },
    channels: { find: async (query) => filterChannels(channels, query) },
    recipients: { find: async (query) => filterRecipients(recipients, query) },
    getValue: async (key) => values.get(key)?.value,
    findValues: async (prefix) =>
      values.all().filter(({ key }) => key.startsWith(prefix)),
    secrets: secretsReader(stages),
  }
}
