import { expect, test } from 'vitest'
import { drawDestination } from '../../../test/storeCases/samples.js'
import { lowerOf } from '../../core/lowerOf.js'
import { destinationKey } from '../../store/destinationKey.js'
import { memoryStore } from '../../store/memoryStore.js'
import { seededRandom } from '../../testing/seededRandom.js'
import {
  type DestinationCursor,
  loadCursor,
  moveCursor,
  nextWalk,
  type OpenWalk,
} from './destinationCursor.js'

const destination = drawDestination()

const keepAndLoad = async (after: DestinationCursor) => {
  const store = memoryStore()
  const move = { before: undefined, after }
  await moveCursor({ store }, { destination, lease: undefined }, move)
  return store.read((tables) => loadCursor(tables, destination))
}

test('a cursor comes back as it was kept, with a walk or without', async () => {
  const last = { number: 9n, hash: `0x${'1'.repeat(64)}` as const }
  const walks: (OpenWalk | undefined)[] = [
    undefined,
    { after: 5n, since: 3n, again: 7n },
    { after: undefined, since: 0n, again: undefined },
  ]
  for (const walk of walks) {
    const cursor = { from: 1n, last, seen: [last], ...(walk ? { walk } : {}) }
    expect(await keepAndLoad(cursor)).toEqual(cursor)
  }
})

test('a cursor that cannot be read is an error that names its member', async () => {
  const store = memoryStore()
  const key = destinationKey('cursor', destination)
  const row = { from: '1', block: 'nine', hash: '0x', seen: [] }
  await store.write((tables) => tables.setValue(key, row))
  const error = await store
    .read((tables) => loadCursor(tables, destination))
    .catch((error: unknown) => error)
  expect(error).toMatchObject({
    name: 'StoreError',
    message: `The store has an invalid value: ${key}.block.`,
  })
})

test('no block is left out for any open order, however the walk is cut, and from wherever a reconciliation begins', () => {
  const random = seededRandom(17)
  const pick = (count: number) => Math.floor(random() * count)
  for (let run = 0; run < 200; run++) {
    const orders = 1 + pick(12)
    /** For each order, the last block in which the chain was asked about it. */
    const asked = Array.from({ length: orders }, () => 0n)
    let walk: OpenWalk | undefined
    let last = 0n
    for (let step = 0; step < 60; step++) {
      const isAll = random() < 0.05
      const head = last + BigInt(1 + pick(20))
      // After a reorganization, a reconciliation begins further back.
      const back = BigInt(random() < 0.1 ? pick(30) : 3)
      const fromBlock = last > back ? last - back : 0n
      if (back > 3n)
        for (const [at, block] of asked.entries())
          asked[at] = lowerOf(block, fromBlock)
      const start = isAll ? undefined : walk?.after
      const since = lowerOf(walk?.since, fromBlock)
      const first = Number(start ?? -1n) + 1
      const most = isAll ? orders : 1 + pick(5)
      const end = Math.min(orders, first + most)
      for (let at = first; at < end; at++) {
        expect(since).toBeLessThanOrEqual((asked[at] ?? 0n) + 1n)
        asked[at] = head
      }
      const after = end < orders ? BigInt(end - 1) : undefined
      walk = nextWalk(walk, { fromBlock, after, isAll: start === undefined })
      last = head
    }
    // Each order was asked about, so none was left out.
    expect(asked.every((block) => block > 0n)).toBe(true)
  }
})
