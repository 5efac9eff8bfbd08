import { type Client, createClient, custom, type Hash } from 'viem'
import { expect, test } from 'vitest'
import { recheckApart, recheckProofs } from './recheckProofs.js'

const hash = (digit: string): Hash => `0x${digit.repeat(64)}`

const proof = {
  transactionHash: hash('1'),
  blockNumber: 10n,
  blockHash: hash('a'),
}

type Asked = { method: string; params: [string] }

type Chain = {
  /** Hash of each block of the fake chain, by block number. */
  blocks: Record<number, Hash>
  /** The block in which the fake node says the transaction is. */
  receipt?: { number: number; hash: Hash }
}

function nodeOf({ blocks, receipt }: Chain): Client {
  const quantity = (value: number) => `0x${value.toString(16)}`
  const answers: Record<string, (first: string) => unknown> = {
    eth_chainId: () => '0x1',
    eth_getTransactionReceipt: (transactionHash) =>
      receipt
        ? {
            transactionHash,
            blockHash: receipt.hash,
            blockNumber: quantity(receipt.number),
            status: '0x1',
            from: '0x',
            gasUsed: '0x1',
            logs: [],
          }
        : null,
    eth_getBlockByNumber: (number) => {
      const found = blocks[Number(number)]
      return found ? { number, hash: found, timestamp: '0x7' } : null
    },
  }
  const request = async (asked: Asked) =>
    answers[asked.method]?.(asked.params[0])
  return createClient({ transport: custom({ request }) })
}

const check = async (chain: Chain, blockHash: Hash | undefined) => {
  const seen = { ...proof, blockHash }
  const [checked] = await recheckProofs(nodeOf(chain), [seen], {
    chainId: 1,
  })
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

/**
 * A fake node that shows the first chain, and the second one when it is asked
 * the same thing again.
 */
function turning(first: Chain, second: Chain): Client {
  const [before, after] = [nodeOf(first), nodeOf(second)]
  const asked = new Map<string, number>()
  const request = async ({ method, params }: Asked) => {
    const key = JSON.stringify([method, params])
    const times = asked.get(key) ?? 0
    asked.set(key, times + 1)
    const node = times === 0 ? before : after
    return node.request({ method, params } as never)
  }
  return createClient({ transport: custom({ request }) })
}

test('a proof is gone only when two looks see the same block in its place', async () => {
  const client = turning(
    { blocks: { 10: hash('b') } },
    { blocks: { 10: hash('a') }, receipt: { number: 10, hash: hash('a') } },
  )
  const [checked] = await recheckProofs(client, [proof], { chainId: 1 })
  expect(checked?.verdict).toBe('unclear')
})

test('a node of another network takes nothing back', async () => {
  const client = nodeOf({ blocks: { 10: hash('b') } })
  await expect(recheckProofs(client, [proof], { chainId: 2 })).rejects.toThrow(
    'names chain 1, and not 2',
  )
})

test('a receipt that cannot be read is unclear by itself', async () => {
  const good = nodeOf({
    blocks: { 10: hash('a') },
    receipt: { number: 10, hash: hash('a') },
  })
  const request = async ({ method, params }: Asked) =>
    method === 'eth_getTransactionReceipt' && params[0] === hash('2')
      ? { transactionHash: hash('2') }
      : good.request({ method, params } as never)
  const client = createClient({ transport: custom({ request }) })
  const failed: Hash[] = []
  const checked = await recheckApart(
    client,
    [proof, { ...proof, transactionHash: hash('2') }],
    {
      chainId: 1,
      onFailure: ({ transactionHash }) => {
        failed.push(transactionHash)
      },
    },
  )
  expect(checked.map(({ verdict }) => verdict)).toEqual(['same', 'unclear'])
  expect(failed).toEqual([hash('2')])
})
