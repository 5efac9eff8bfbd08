import {
  type StartDevChainParameters,
  startDevChain,
} from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import { getBlock, getBlockNumber, sendTransaction } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { newAccount } from '../../support/desk.js'

const chains: Awaited<ReturnType<typeof startDevChain>>[] = []
afterAll(() => Promise.all(chains.map((chain) => chain.stop())))

async function start(parameters: StartDevChainParameters) {
  const chain = await startDevChain(parameters)
  chains.push(chain)
  const client = createReadClient({ url: chain.urls.http })
  return { chain, client, test: chain.clients.test }
}

/** The newest block as an observer of the same moment sees it. */
const headOf = ({ chain }: Awaited<ReturnType<typeof start>>) =>
  getBlockNumber(chain.clients.public, { cacheTime: 0 })

const send = ({ chain }: Awaited<ReturnType<typeof start>>) =>
  sendTransaction(chain.clients.relayer, {
    to: newAccount().address,
    value: 1n,
    gas: 21_000n,
  })

test('plain anvil pre-confirms nothing', async () => {
  const dev = await start({ blockTime: 0 })
  const head = await headOf(dev)
  expect(await dev.client.detectPreconfirmations()).toEqual({
    kind: 'none',
    tag: 'latest',
    pollingInterval: 1000,
    evidence: {
      latestBlock: head,
      pendingBlock: head + 1n,
      pendingHasZeroHash: false,
      secondsPerBlock: expect.any(Number),
      hasMilliseconds: false,
    },
  })
})

test('a chain that mined many transactions at once is not fast', async () => {
  const dev = await start({ blockTime: 0 })
  // All in one second, however slow the machine is.
  await dev.test.setBlockTimestampInterval({ interval: 0 })
  for (let count = 0; count < 60; count++) await send(dev)
  const { kind, evidence } = await dev.client.detectPreconfirmations()
  expect([kind, evidence.latestBlock >= 60n]).toEqual(['none', true])
})

test('a chain that was given many blocks at once is not fast', async () => {
  const dev = await start({ blockTime: 0 })
  await dev.test.mine({ blocks: 100, interval: 0 })
  const { kind, evidence } = await dev.client.detectPreconfirmations()
  expect([kind, evidence.secondsPerBlock]).toEqual(['none', 0])
})

test('a chain of a block a second is not fast', async () => {
  const dev = await start({ blockTime: 0 })
  // Of each block, also where the machine's own second changes between two.
  await dev.test.setBlockTimestampInterval({ interval: 1 })
  await dev.test.mine({ blocks: 60 })
  const { kind, evidence } = await dev.client.detectPreconfirmations()
  expect([kind, evidence.secondsPerBlock]).toEqual(['none', 1])
})

test('Flashblocks are known by the zero hash of the pending block', async () => {
  const dev = await start({
    preconfirmations: 'flashblocks',
    blockTime: 0,
    tick: 0,
  })
  await send(dev)
  await dev.chain.preconfirmations.tick()
  const head = await headOf(dev)
  expect(await dev.client.detectPreconfirmations()).toEqual({
    kind: 'flashblocks',
    tag: 'pending',
    pollingInterval: 100,
    evidence: {
      latestBlock: head,
      pendingBlock: head + 1n,
      pendingHasZeroHash: true,
      secondsPerBlock: expect.any(Number),
      hasMilliseconds: false,
    },
  })
})

test('a Flashblocks node that lost its view looks like none until it has one', async () => {
  const dev = await start({
    preconfirmations: 'flashblocks',
    blockTime: 0,
    tick: 0,
  })
  await dev.chain.preconfirmations.tick()
  await dev.chain.preconfirmations.loseSnapshot()
  const head = await headOf(dev)
  const lost = await dev.client.detectPreconfirmations()
  await dev.chain.preconfirmations.seal()
  await dev.chain.preconfirmations.tick()
  const found = await dev.client.detectPreconfirmations()
  expect(lost).toMatchObject({
    kind: 'none',
    tag: 'latest',
    evidence: {
      latestBlock: head,
      pendingBlock: head,
      pendingHasZeroHash: false,
    },
  })
  expect(found).toMatchObject({ kind: 'flashblocks', tag: 'pending' })
})

test('a stuck Flashblocks view is shown by its block, and latest is better', async () => {
  const dev = await start({
    preconfirmations: 'flashblocks',
    blockTime: 0,
    tick: 0,
  })
  const { preconfirmations } = dev.chain
  await preconfirmations.tick()
  await preconfirmations.stall()
  const stuck = (await headOf(dev)) + 1n
  for (let count = 0; count < 3; count++) await preconfirmations.seal()
  expect(await dev.client.detectPreconfirmations()).toMatchObject({
    kind: 'flashblocks',
    tag: 'latest',
    evidence: { latestBlock: stuck + 2n, pendingBlock: stuck },
  })
})

test('fast blocks are known by their milliseconds from the first on', async () => {
  const dev = await start({ preconfirmations: 'fastBlocks' })
  const { timestampMs } = Object(await getBlock(dev.chain.clients.public))
  const { evidence, ...found } = await dev.client.detectPreconfirmations()
  expect(timestampMs).toMatch(/^0x[\da-f]+$/)
  expect(found).toEqual({
    kind: 'fastBlocks',
    tag: 'latest',
    pollingInterval: 100,
  })
  expect(evidence).toMatchObject({
    pendingHasZeroHash: false,
    hasMilliseconds: true,
  })
})
