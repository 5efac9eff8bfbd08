import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { memoryStore } from './memoryStore.js'
import {
  fields,
  hexForm,
  integerForm,
  listOf,
  mapOf,
  setting,
} from './setting.js'

type Cursor = {
  block: bigint
  seen: readonly Hex[]
  behind: ReadonlyMap<Hex, bigint>
}

const cursor = setting(
  'cursor',
  fields<Cursor>({
    block: integerForm,
    seen: listOf(hexForm),
    behind: mapOf(hexForm, integerForm),
  }),
)

const kept = { block: '9', seen: ['0x1'], behind: { '0x2': '7' } }

test('a value comes back as it was written, and a map that is not stored is empty', async () => {
  const store = memoryStore()
  const value = { block: 9n, seen: ['0x1'], behind: new Map([['0x2', 7n]]) }
  await store.write((tables) => cursor.write(tables, value as Cursor))
  expect(await store.read((tables) => tables.getValue('cursor'))).toEqual(kept)
  expect(await store.read(cursor.load)).toEqual(value)
  const { behind: _, ...rest } = kept
  await store.write((tables) => tables.setValue('cursor', rest))
  expect(await store.read(cursor.load)).toMatchObject({ behind: new Map() })
})

test.each([
  ['block', 'nine'],
  ['seen', '0x1'],
  ['seen[0]', [7]],
  ['behind', 7],
  ['behind', [['0x2', '7']]],
  ['behind.0x2', { '0x2': 'seven' }],
])('an invalid value at %s is an error that names it', async (path, value) => {
  const store = memoryStore()
  const member = path.replace(/[.[].*/, '')
  const row = { ...kept, [member]: value }
  await store.write((tables) => tables.setValue('cursor', row))
  await expect(store.read(cursor.load)).rejects.toMatchObject({
    name: 'StoreError',
    message: `The store has an invalid value: cursor.${path}.`,
  })
})
