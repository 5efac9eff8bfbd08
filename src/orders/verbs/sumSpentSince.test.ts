import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { sampleProof } from '../../../test/storeCases/samples.js'
import { memoryStore } from '../../store/memoryStore.js'
import type { Destination, ProofQuery, ProofRecord } from '../../store/types.js'
import { sumSpentSince } from './sumSpentSince.js'

const address = (digit: string): Address => `0x${digit.repeat(40)}`
const destination: Destination = {
  chainId: 31337,
  token: address('1'),
  recipient: address('2'),
}
const payer = address('3')

/**
 * Returns the sum for one payer over these payments, and how many rows were
 * read for it.
 */
async function sum(
  proofs: readonly Partial<ProofRecord>[],
  at: { block: bigint; time: bigint },
): Promise<{ spent: bigint | undefined; rows: number }> {
  const store = memoryStore()
  await store.write((tables) =>
    tables.proofs.insert(
      proofs.map((facts) =>
        sampleProof(destination, {
          kind: 'capture',
          payer,
          value: 1n,
          ...facts,
        }),
      ),
    ),
  )
  let rows = 0
  const spent = await store.read(async (tables) => {
    const find = async (query: ProofQuery) => {
      const found = await tables.proofs.find(query)
      rows += found.length
      return found
    }
    const spender = {
      context: { destinations: [destination] },
      found: { order: destination },
      payer,
      at: { ...at, via: 'override' } as const,
    }
    const sums = await sumSpentSince({ proofs: { find } }, [spender])
    return sums.get(spender)
  })
  return { spent, rows }
}

const proofAt = (block: number, facts: Partial<ProofRecord> = {}) => ({
  blockNumber: BigInt(block),
  blockTime: BigInt(block) / 5n,
  ...facts,
})

/**
 * Payments in this many blocks, one in each; the chain makes five blocks a
 * second.
 */
const many = (count: number) =>
  Array.from({ length: count }, (_, block) => proofAt(block))

test('what was paid in later blocks counts, those of the same second too', async () => {
  const at = { block: 7n, time: 1n }
  expect((await sum(many(12), at)).spent).toBe(4n)
})

test('what others paid does not count, nor what a fork took back', async () => {
  const proofs = [
    proofAt(10),
    proofAt(11, { payer: address('4') }),
    proofAt(12, { removed: true }),
    proofAt(13, { kind: 'unmatched' }),
    proofAt(14, { kind: 'cancel', value: 0n }),
  ]
  expect((await sum(proofs, { block: 9n, time: 1n })).spent).toBe(2n)
})

test('only what is younger than the balance is read', async () => {
  const { spent, rows } = await sum(many(2_000), { block: 1_989n, time: 397n })
  expect(spent).toBe(10n)
  expect(rows).toBeLessThanOrEqual(30)
})

test('the number of another chain is helped out by the time', async () => {
  const { spent, rows } = await sum(many(2_000), { block: 3n, time: 397n })
  expect(spent).toBe(10n + 5n)
  expect(rows).toBeLessThanOrEqual(600)
})

test('a fork that is gone hides nothing', async () => {
  const proofs = [
    proofAt(10, { removed: true, blockTime: 1n }),
    proofAt(10, { logIndex: 1 }),
  ]
  expect((await sum(proofs, { block: 9n, time: 2n })).spent).toBe(1n)
})
