import { StoreError } from './errors.js'
import {
  type MemoryTable,
  type StagedTable,
  stageInsert,
  stageRemoval,
  stageRow,
  stageUpdate,
} from './memoryTable.js'
import {
  type MemoryStages,
  type MemoryTables,
  stageReader,
  stageTables,
} from './memoryTables.js'
import type {
  AttemptRecord,
  ChannelRecord,
  NoteRecord,
  OrderRecord,
  ProofRecord,
  RecipientRecord,
  StoreWriter,
  SubscriptionRecord,
  TransactionRecord,
} from './types.js'

/**
 * A transaction of the memory store whose changes are not in the tables yet.
 */
export type MemoryUnit = {
  readonly stages: MemoryStages
  readonly writer: StoreWriter
  /**
   * @throws the error of the first failed write, even if the caller's work
   * caught it: half of the work must not be committed.
   */
  check(): void
  /** Makes all later writes through this transaction fail. */
  close(): void
}

/** Begins a transaction. The caller commits its changes to the tables. */
export function startUnit(tables: MemoryTables): MemoryUnit {
  const stages = stageTables(tables)
  const failures: unknown[] = []
  let isOver = false
  const change: Change = async (rows, step) => {
    if (isOver)
      throw new StoreError('was written to after the unit of work had ended')
    try {
      for (const row of rows) step(row)
    } catch (error) {
      failures.push(error)
      throw error
    }
  }
  return {
    stages,
    writer: stageWriter(tables, stages, change),
    check: () => {
      if (failures.length) throw failures[0]
    },
    close: () => {
      isOver = true
    },
  }
}

type Change = <row>(
  rows: readonly row[],
  step: (row: row) => void,
) => Promise<void>

function stageWriter(
  tables: MemoryTables,
  stages: MemoryStages,
  change: Change,
): StoreWriter {
  const reader = stageReader(stages)
  let position = BigInt(tables.orders.rows.size)
  let place = BigInt(tables.subscriptions.rows.size)
  let channelPlace = BigInt(tables.channels.rows.size)
  let cursor = BigInt(tables.events.rows.size)
  const tableWriter = <row extends { version: number }, inserted>(
    table: MemoryTable<row>,
    stage: StagedTable<row>,
    complete: (row: inserted) => row,
  ) => ({
    insert: (rows: readonly inserted[]) =>
      change(rows, (row) => stageInsert(table, stage, complete(row))),
    update: (rows: readonly row[]) =>
      change(rows, (row) => stageUpdate(table, stage, row)),
  })
  return {
    orders: {
      ...reader.orders,
      ...tableWriter(
        tables.orders,
        stages.orders,
        (row: Omit<OrderRecord, 'version' | 'position'>) => ({
          ...row,
          version: 1,
          position: ++position,
        }),
      ),
    },
    attempts: {
      ...reader.attempts,
      ...tableWriter(
        tables.attempts,
        stages.attempts,
        (row: Omit<AttemptRecord, 'version'>) => ({ ...row, version: 1 }),
      ),
    },
    transactions: {
      ...reader.transactions,
      ...tableWriter(
        tables.transactions,
        stages.transactions,
        (row: Omit<TransactionRecord, 'version'>) => ({ ...row, version: 1 }),
      ),
    },
    proofs: {
      ...reader.proofs,
      ...tableWriter(
        tables.proofs,
        stages.proofs,
        (row: Omit<ProofRecord, 'version'>) => ({ ...row, version: 1 }),
      ),
    },
    events: {
      ...reader.events,
      append: (rows) =>
        change(rows, (row) =>
          stageRow(tables.events, stages.events, { ...row, cursor: ++cursor }),
        ),
    },
    notes: {
      ...reader.notes,
      ...tableWriter(
        tables.notes,
        stages.notes,
        (row: Omit<NoteRecord, 'version'>) => ({ ...row, version: 1 }),
      ),
      remove: (keys) => change(keys, (key) => stageRemoval(stages.notes, key)),
    },
    subscriptions: {
      ...reader.subscriptions,
      ...tableWriter(
        tables.subscriptions,
        stages.subscriptions,
        (row: Omit<SubscriptionRecord, 'version' | 'position'>) => ({
          ...row,
          version: 1,
          position: ++place,
        }),
      ),
    },
    channels: {
      ...reader.channels,
      ...tableWriter(
        tables.channels,
        stages.channels,
        (row: Omit<ChannelRecord, 'version' | 'position'>) => ({
          ...row,
          version: 1,
          position: ++channelPlace,
        }),
      ),
    },
    recipients: {
      ...reader.recipients,
      ...tableWriter(
        tables.recipients,
        stages.recipients,
        (row: Omit<RecipientRecord, 'version'>) => ({ ...row, version: 1 }),
      ),
    },
    getValue: reader.getValue,
    setValue: (key, value) =>
      change([value], () =>
        stageRow(tables.values, stages.values, { key, value }),
      ),
    // Needs no lock, because only one transaction runs at a time.
    lock: async () => undefined,
  }
}
