import { expect, test } from 'vitest'
import {
  drawDestination,
  sampleOrder,
  sampleProof,
} from '../../../test/storeCases/samples.js'
import { memoryStore } from '../../store/memoryStore.js'
import type { OrderRecord, ProofRecord } from '../../store/types.js'
import { findSettled, findStandingProofs } from './findSettled.js'

/**
 * More rows than one function call can take as arguments: spreading them would
 * overflow the stack.
 */
const many = 300_000

const destination = drawDestination()

const numbered = <row>(make: (at: number) => row): row[] =>
  Array.from({ length: many }, (_, at) => make(at))

test('a block with more proofs than the stack holds is read whole', async () => {
  const proof: ProofRecord = {
    ...sampleProof(destination),
    version: 1,
    blockNumber: 7n,
  }
  const rows = numbered((logIndex) => ({ ...proof, logIndex }))
  const proofs = {
    find: async (query: object) =>
      rows.slice(0, Number(Reflect.get(query, 'limit'))),
  }
  const found = await findStandingProofs({ proofs }, [destination], 0n)
  expect(found).toHaveLength(many)
})

test('a block that settled more orders than the stack holds is read whole', async () => {
  const order: OrderRecord = {
    ...sampleOrder(destination, { finality: 'included', settledBlock: 7n }),
    version: 1,
    position: 1n,
  }
  const rows = numbered((at) => ({ ...order, id: `order-${at}` }))
  const store = memoryStore({ volatile: true })
  const find = async (query: object) =>
    rows.slice(0, Number(Reflect.get(query, 'limit')))
  const crowded = {
    ...store,
    read: <result>(work: Parameters<typeof store.read<result>>[0]) =>
      store.read((tables) =>
        work({ ...tables, orders: { ...tables.orders, find } }),
      ),
  }
  const found = await findSettled(
    { store: crowded },
    [destination],
    [{ finality: 'included' }],
  )
  expect(found).toHaveLength(many)
})
