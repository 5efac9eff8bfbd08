import Database from 'libsql'
import { expect, test } from 'vitest'
import type { DurableStorage } from '../../../src/durable/durableStorage.js'
import { objectDatabase } from '../../../src/durable/objectDatabase.js'

/** The interface of a Durable Object's storage, on SQLite in memory. */
function openStorage(): DurableStorage {
  const database = new Database(':memory:')
  const storage: DurableStorage = {
    sql: {
      exec: (query, ...bindings) => {
        try {
          const statement = database.prepare(query)
          const rows = statement.reader ? statement.all(...bindings) : []
          const rowsWritten = statement.reader
            ? 0
            : statement.run(...bindings).changes
          return {
            columnNames: Object.keys(Object(rows[0])),
            rowsWritten,
            toArray: () => rows as ReturnType<typeof found.toArray>,
          }
        } catch (error) {
          const { message, code } = Object(error)
          throw new Error(`${message}: ${code}`)
        }
      },
    },
    transactionSync: (work) => {
      database.exec('savepoint unit')
      try {
        const result = work()
        database.exec('release unit')
        return result
      } catch (error) {
        database.exec('rollback to unit; release unit')
        throw error
      }
    },
  }
  const found = storage.sql.exec('create table sales (id integer primary key)')
  return storage
}

const insert = (id: number) => ({
  text: 'insert into sales values (?)',
  bindings: [id],
})

const idsOf = ({ sql }: DurableStorage) =>
  sql
    .exec('select id from sales order by id')
    .toArray()
    .map(({ id }) => id)

function openShop() {
  const storage = openStorage()
  const database = objectDatabase(storage)
  const sell = (id: number) =>
    database.use('write', async (unit) => {
      unit.run(insert(id))
      await unit.commit()
    })
  /** A read that stays open until `end` is called. */
  const openRead = () => {
    let end = () => {}
    const gate = new Promise<void>((resolve) => {
      end = resolve
    })
    const all = { text: 'select id from sales', bindings: [] }
    const ended = database.use('read', async (unit) => {
      unit.run(all)
      await gate
      return unit.run(all).rows.length
    })
    return { end, ended }
  }
  return { storage, sell, openRead }
}

test('a change that cannot be made is told to the next that writes, until it can', async () => {
  const { storage, sell, openRead } = openShop()
  const read = openRead()
  await sell(1)
  // By other code in the same object.
  storage.sql.exec('insert into sales values (1)')
  read.end()
  await read.ended
  for (const id of [2, 3])
    await expect(sell(id)).rejects.toMatchObject({ kind: 'refused' })
  expect(idsOf(storage)).toEqual([1])
  storage.sql.exec('delete from sales')
  await sell(4)
  expect(idsOf(storage)).toEqual([1, 4])
})

test('a read that holds up 100 changes has to begin again', async () => {
  const { storage, sell, openRead } = openShop()
  const read = openRead()
  for (let id = 1; id <= 100; id++) await sell(id)
  expect(idsOf(storage)).toEqual([])
  await sell(101)
  expect(idsOf(storage)).toHaveLength(101)
  read.end()
  await expect(read.ended).rejects.toMatchObject({
    kind: 'rolledBack',
  })
})

test('a read sees nothing that was written after it began', async () => {
  const { storage, sell, openRead } = openShop()
  const read = openRead()
  await sell(1)
  read.end()
  expect(await read.ended).toBe(0)
  expect(idsOf(storage)).toEqual([1])
})
