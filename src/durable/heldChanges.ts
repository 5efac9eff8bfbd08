import { bytesToHex, hexToBytes } from 'viem'
import { isBytes } from '../core/isBytes.js'
import type { DurableStorage } from './durableStorage.js'
import { runStatement, type Statement } from './runStatement.js'

/**
 * The table of changes that are committed, but not made to the other tables
 * yet, because a read that began before them is still open.
 */
export const heldTable = `create table if not exists held_statements (
  change integer not null,
  place integer not null,
  text text not null,
  bindings text not null,
  primary key (change, place)
) strict`

export function insertHeld(
  storage: DurableStorage,
  change: number,
  statements: readonly Statement[],
): void {
  for (const [place, { text, bindings }] of statements.entries()) {
    const json = JSON.stringify(bindings.map(encode))
    runStatement(storage, {
      text: 'insert into held_statements values (?, ?, ?, ?)',
      bindings: [change, place, text, json],
    })
  }
}

export function removeHeld(storage: DurableStorage, upTo: number): void {
  runStatement(storage, {
    text: 'delete from held_statements where change <= ?',
    bindings: [upTo],
  })
}

/** Makes the changes that a stopped object has left. */
export function applyLeft(storage: DurableStorage): void {
  const { rows: tables } = runStatement(storage, {
    text: `select 1 from sqlite_schema where name = 'held_statements'`,
    bindings: [],
  })
  if (tables.length === 0) return
  const { rows } = runStatement(storage, {
    text: 'select text, bindings from held_statements order by change, place',
    bindings: [],
  })
  if (rows.length === 0) return
  storage.transactionSync(() => {
    for (const { text, bindings } of rows)
      runStatement(storage, {
        text: String(text),
        bindings: JSON.parse(String(bindings)).map(decode),
      })
    runStatement(storage, { text: 'delete from held_statements', bindings: [] })
  })
}

function encode(binding: Statement['bindings'][number]): unknown {
  return isBytes(binding) ? { bytes: bytesToHex(binding) } : binding
}

function decode(value: unknown): Statement['bindings'][number] {
  const { bytes } = Object(value)
  return bytes === undefined
    ? (value as Statement['bindings'][number])
    : hexToBytes(bytes)
}
