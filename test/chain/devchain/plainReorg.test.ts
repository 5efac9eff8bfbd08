import { type DevChain, startDevChain } from 'countersign/devchain'
import type { Hash } from 'viem'
import { getBlock, getTransactionCount, mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../support/desk.js'

const plain = await startDevChain({ blockTime: 0 })
const guarded = await startDevChain({ blockTime: 0, policies: {} })
const timed = await startDevChain({ blockTime: 1 })
const deep = await startDevChain({ blockTime: 0, epochBlocks: 3 })
const chains = [plain, guarded, timed, deep]
afterAll(() => Promise.all(chains.map((chain) => chain.stop())))

const head = ({ clients }: DevChain) => getBlock(clients.public)

const isMined = async ({ clients }: DevChain, hash: Hash) =>
  clients.public.getTransactionReceipt({ hash }).then(
    () => true,
    () => false,
  )

async function send(chain: DevChain): Promise<Hash> {
  const { relayer } = chain.clients
  const to = relayer.account.address
  const receipt = await relayer.sendTransactionSync({ to, value: 1n })
  return receipt.transactionHash
}

for (const [name, chain] of [
  ['anvil alone', plain],
  ['anvil behind policies', guarded],
] as const) {
  test(`a reorg takes transactions back for good (${name})`, async () => {
    const [first, second] = [await send(chain), await send(chain)]
    const before = await head(chain)
    await chain.reorg({ depth: 2, transactions: 'dropped' })
    const after = await head(chain)
    expect(after.number).toBe(before.number)
    expect(after.hash).not.toBe(before.hash)
    expect(after.parentHash).not.toBe(before.parentHash)
    await mine(chain.clients.test, { blocks: 1 })
    expect(await isMined(chain, first)).toBe(false)
    expect(await isMined(chain, second)).toBe(false)
  })

  test(`a reorg gives transactions back to the pool (${name})`, async () => {
    const { relayer, public: client, test: control } = chain.clients
    const [first, second] = [await send(chain), await send(chain)]
    const count = () =>
      getTransactionCount(client, {
        address: relayer.account.address,
        blockTag: 'latest',
      })
    const sent = await count()
    await control.setAutomine(false)
    await chain.reorg({ depth: 2 })
    expect(await count()).toBe(sent - 2)
    expect(await isMined(chain, first)).toBe(false)
    await mine(control, { blocks: 1 })
    await control.setAutomine(true)
    expect(await count()).toBe(sent)
    expect(await isMined(chain, first)).toBe(true)
    expect(await isMined(chain, second)).toBe(true)
  })

  test(`a reorg deeper than the chain is refused (${name})`, async () => {
    const { number } = await head(chain)
    for (const depth of [Number(number) + 1, 0, 1.5])
      await expect(chain.reorg({ depth })).rejects.toThrow(
        `depth must be from 1 to ${number}`,
      )
  })
}

test('a reorg does not set the clock back', async () => {
  await plain.warp(1_000)
  // The chain's clock goes on meanwhile; a reorg must not take that back.
  await new Promise((resolve) => setTimeout(resolve, 2_100))
  await plain.reorg({ depth: 1 })
  const before = Date.now() / 1000
  await mine(plain.clients.test, { blocks: 1 })
  const { timestamp } = await head(plain)
  expect(Number(timestamp) - before).toBeGreaterThan(998)
})

test('blocks go on in time after a reorg', async () => {
  const hash = await send(timed)
  const { number } = await head(timed)
  await timed.reorg({ depth: 1 })
  await timed.clients.public.waitForTransactionReceipt({ hash })
  const before = Date.now() / 1000
  const reached = (await head(timed)).number
  // Two blocks more, so that the last was begun after the clock was read.
  await expect
    .poll(async () => (await head(timed)).number, { timeout: 60_000 })
    .toBeGreaterThan(reached + 1n)
  const after = await head(timed)
  expect(after.number).toBeGreaterThan(number)
  expect(Number(after.timestamp)).toBeGreaterThan(before - 2)
  expect(Number(after.timestamp)).toBeLessThan(Date.now() / 1000 + 3)
})

test('what waits in the pool survives a reorg', async () => {
  const { test: control, public: client } = plain.clients
  const account = await fundedAccount(plain)
  await control.mine({ blocks: 1 })
  await control.setAutomine(false)
  const hash = await client.sendRawTransaction({
    serializedTransaction: await account.signTransaction({
      chainId: 31337,
      to: account.address,
      nonce: 0,
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 0n,
    }),
  })
  await plain.reorg({ depth: 1 })
  await control.mine({ blocks: 1 })
  await control.setAutomine(true)
  expect(await isMined(plain, hash)).toBe(true)
})

const distances = async ({ clients }: DevChain) => {
  const numberOf = async (blockTag: 'latest' | 'safe' | 'finalized') =>
    (await getBlock(clients.public, { blockTag })).number
  const latest = await numberOf('latest')
  return [
    latest - (await numberOf('safe')),
    latest - (await numberOf('finalized')),
  ]
}

test('safe and finalized follow by as many blocks as an epoch has', async () => {
  for (const chain of [plain, deep])
    await mine(chain.clients.test, { blocks: 9 })
  expect(await distances(plain)).toEqual([1n, 2n])
  expect(await distances(deep)).toEqual([3n, 6n])
})

test.each([0, 1.5, -1, Number.NaN])(
  'an epoch of %s blocks is refused',
  async (epochBlocks) => {
    await expect(startDevChain({ epochBlocks })).rejects.toThrow(
      'epochBlocks must be a number of blocks',
    )
  },
)
