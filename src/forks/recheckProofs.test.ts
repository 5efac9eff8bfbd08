import { type Client, createClient, custom, type Hash } from 'viem'
import { expect, test } from 'vitest'
import { recheckProofs } from './recheckProofs.js'

const hash = (digit: string): Hash => `0x${digit.repeat(64)}`

const proof = {
  transactionHash: hash('1'),
  blockNumber: 10n,
  blockHash: hash('a'),
}

type Chain = {
  /** Blocks by number. */
  blocks: Record<number, Hash>
  /** Where the node says the transaction is. */
  receipt?: { number: number; hash: Hash }
}

function nodeOf({ blocks, receipt }: Chain): Client {
  const quantity = (value: number) => `0x${value.toString(16)}`
  const answers: Record<string, (first: string) => unknown> = {
    eth_getTransactionReceipt: (transactionHash) =>
      receipt
        ? {
            transactionHash,
            blockHash: receipt.hash,
            blockNumber: quantity(receipt.number),
            ...{ status: '0x1', from: '0x', gasUsed: '0x1', logs: [] },
          }
        : null,
    eth_getBlockByNumber: (number) => {
      const found = blocks[Number(number)]
      return found ? { number, hash: found, timestamp: '0x7' } : null
    },
  }
  const request = async (asked: { method: string; params: [string] }) =>
    answers[asked.method]?.(asked.params[0])
  return createClient({ transport: custom({ request }) })
}

const check = async (chain: Chain, blockHash: Hash | undefined) => {
  const seen = { ...proof, blockHash }
  const [checked] = await recheckProofs(nodeOf(chain), [seen])
  return checked
}

test.each<[string, Chain, string]>([
  [
    'is where it was',
    { blocks: { 10: hash('a') }, receipt: { number: 10, hash: hash('a') } },
    'same',
  ],
  [
    'is in another block of the same height',
    { blocks: { 10: hash('b') }, receipt: { number: 10, hash: hash('b') } },
    'moved',
  ],
  [
    'is in a block of another height',
    {
      blocks: { 10: hash('b'), 11: hash('c') },
      receipt: { number: 11, hash: hash('c') },
    },
    'moved',
  ],
  ['is gone, and so is its block', { blocks: { 10: hash('b') } }, 'gone'],
  ['is missing from its own block', { blocks: { 10: hash('a') } }, 'unclear'],
  ['is missing, and its height too', { blocks: {} }, 'unclear'],
  [
    'is in a block that is not in the chain',
    { blocks: { 10: hash('b') }, receipt: { number: 10, hash: hash('a') } },
    'unclear',
  ],
])('a proof that %s', async (_, chain, verdict) => {
  expect((await check(chain, proof.blockHash))?.verdict).toBe(verdict)
})

test('where no block hash was kept, a missing receipt proves nothing', async () => {
  const missing = await check({ blocks: { 10: hash('b') } }, undefined)
  expect(missing?.verdict).toBe('unclear')
  const there = { number: 10, hash: hash('b') }
  const found = await check(
    { blocks: { 10: hash('b') }, receipt: there },
    undefined,
  )
  expect(found?.verdict).toBe('same')
})
