import { execFile } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Address, getAddress, maxUint256, zeroHash } from 'viem'
import {
  getBlock,
  getChainId,
  getCode,
  readContract,
  simulateContract,
} from 'viem/actions'
import { afterAll, expect, test, vi } from 'vitest'
import { typedDataTypes } from '../../../src/core/typedDataTypes.js'
import { devToken } from '../../../src/devchain/devToken.js'
import {
  type DevChain,
  deployDevContract,
  devContracts,
  startDevChain,
} from '../../../src/devchain/index.js'
import { devAuthority } from '../../../src/devchain/initializeToken.js'
import { sendAs } from '../../../src/devchain/sendAs.js'

/** Slow machines take a while to get there. */
const patience = { timeout: 60_000 }

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

test('its clients wait for a node on a busy machine', () => {
  for (const client of Object.values(chain.clients))
    expect(client.transport.timeout).toBeGreaterThanOrEqual(60_000)
})

const { abi } = devContracts.fiatTokenV2_2
const [payer, merchant] = [
  chain.clients.payer.account,
  chain.clients.merchant.account,
]

function balanceOf(
  account: Address,
  { clients, token }: Pick<DevChain, 'clients' | 'token'> = chain,
): Promise<bigint> {
  return readContract(clients.public, {
    address: token,
    abi,
    functionName: 'balanceOf',
    args: [account],
  })
}

function rehearseTransfer(): Promise<unknown> {
  return simulateContract(chain.clients.public, {
    address: chain.token,
    abi,
    functionName: 'transfer',
    args: [merchant.address, 1n],
    account: payer,
  })
}

const processes = () =>
  process.getActiveResourcesInfo().filter((it) => it === 'ProcessWrap').length

test('the payer holds 10,000 USDC at the address it has on Base', async () => {
  expect(chain.token).toBe('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')
  expect(await balanceOf(payer.address)).toBe(10_000_000_000n)
  expect(await getChainId(chain.clients.public)).toBe(31337)
  expect(chain.chain.rpcUrls.default).toEqual({
    http: [chain.urls.http],
    webSocket: [chain.urls.webSocket],
  })
})

test.each([
  ['base', 8453],
  ['baseSepolia', 84532],
  ['ethereum', 1],
  ['sepolia', 11155111],
  ['optimism', 10],
  ['arbitrum', 42161],
  ['polygon', 137],
  ['avalanche', 43114],
] as const)('%s means the USDC of chain %d', (network, chainId) => {
  expect(devToken(network)).toMatchObject({ chainId, symbol: 'USDC' })
})

test('the token takes the name it has on the network', async () => {
  const sepolia = await startDevChain({ network: 'baseSepolia', accounts: 3 })
  const address = sepolia.token
  const request = { address, abi, functionName: 'name' } as const
  const name = await readContract(sepolia.clients.public, request)
  await sepolia.stop()
  expect([name, address, sepolia.accounts.length]).toEqual([
    'USDC',
    '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
    3,
  ])
})

test('payer, merchant and relayer come first, unlocked and with ETH', async () => {
  const { relayer, public: client } = chain.clients
  const addresses = chain.accounts.map(({ address }) => address)
  const parties = [payer.address, merchant.address, relayer.account.address]
  expect(addresses.slice(0, 3)).toEqual(parties)
  const unlocked = await relayer.request({ method: 'eth_accounts' })
  expect(unlocked.map((it) => getAddress(it))).toEqual(addresses)
  for (const address of addresses) {
    expect(await client.getBalance({ address })).toBeGreaterThan(10n ** 18n)
    expect(await getCode(client, { address })).toBeUndefined()
  }
})

test('by default a block is mined every second, at the time of day', async () => {
  const ticking = await startDevChain()
  const client = ticking.clients.public
  const startedAt = Date.now() / 1000
  const before = await getBlock(client)
  await vi.waitFor(async () => {
    const { number } = await getBlock(client)
    expect(Number(number - before.number)).toBeGreaterThanOrEqual(3)
  }, patience)
  const after = await getBlock(client)
  const finalized = await getBlock(client, { blockTag: 'finalized' })
  const endedAt = Date.now() / 1000
  await ticking.stop()
  const passed = Number(after.timestamp - before.timestamp)
  // A busy node may mine a late block and the next one in one second.
  const mined = Number(after.number - before.number)
  expect(passed).toBeGreaterThanOrEqual(mined - 1)
  expect(Number(after.timestamp)).toBeGreaterThan(startedAt - 2)
  expect(Number(after.timestamp)).toBeLessThan(endedAt + 2)
  expect(Number(after.number - finalized.number)).toBeLessThanOrEqual(2)
})

test('with a block time of zero a transaction is a block', async () => {
  const before = await getBlock(chain.clients.public)
  const request = { to: merchant.address, value: 1n }
  const receipt = await chain.clients.payer.sendTransactionSync(request)
  expect(receipt.blockNumber).toBe(before.number + 1n)
})

test('mints under way at the same time do not disturb each other', async () => {
  const values = Array.from({ length: 40 }, (_, at) => BigInt(at + 1))
  const addressOf = (value: bigint): Address =>
    `0x${String(value).padStart(40, 'c')}`
  const mints = values.map((value) =>
    chain.mint({ to: addressOf(value), value }),
  )
  await Promise.all(mints)
  const balances = values.map((value) => balanceOf(addressOf(value)))
  expect(await Promise.all(balances)).toEqual(values)
})

test('a mint the token refuses says why', async () => {
  const account = '0x00000000000000000000000000000000000000b1'
  await chain.block({ account })
  const mint = chain.mint({ to: account, value: 1n })
  await expect(mint).rejects.toMatchObject({
    name: 'DevCallRevertedError',
    message: 'mint reverted: Blacklistable: account is blacklisted.',
  })
})

test('a master minter that is a contract mints too', async () => {
  const contract = devContracts.fiatTokenV2_2
  const token = await deployDevContract(chain, { contract })
  const minter = await deployDevContract(chain, {
    contract: devContracts.permissiveWallet,
  })
  const roles = [minter, devAuthority, devAuthority, devAuthority]
  const args = ['USD Coin', 'USDC', 'USD', 6, ...roles]
  const call = { address: token, abi, functionName: 'initialize', args }
  await sendAs(chain.clients, { from: devAuthority, calls: [call] })
  await chain.mint({ token, to: merchant.address, value: 4n })
  expect(await balanceOf(merchant.address, { ...chain, token })).toBe(4n)
})

test('a warp moves the newest block and what follows it', async () => {
  const before = await getBlock(chain.clients.public)
  const startedAt = Date.now() / 1000
  await chain.warp(1_000n)
  const after = await getBlock(chain.clients.public)
  await chain.warp(0)
  const later = await getBlock(chain.clients.public)
  const passed = Date.now() / 1000 - startedAt
  expect(Number(after.timestamp - before.timestamp)).toBeGreaterThanOrEqual(999)
  // The second warp adds nothing to the time that passes by itself.
  expect(Number(later.timestamp - after.timestamp)).toBeLessThan(passed + 5)
})

test('a pause holds until it is lifted', async () => {
  await chain.pause()
  const paused = await rehearseTransfer().catch(String)
  await chain.pause(false)
  expect(paused).toContain('Pausable: paused')
  await rehearseTransfer()
})

test('a block holds until it is lifted', async () => {
  await chain.block({ account: payer.address })
  const blocked = await rehearseTransfer().catch(String)
  await chain.block({ account: payer.address, blocked: false })
  expect(blocked).toContain('Blacklistable: account is blacklisted')
  await rehearseTransfer()
})

test('a fork has the token of its origin and a life of its own', async () => {
  const to = '0x00000000000000000000000000000000000000f0'
  await chain.mint({ to, value: 5n })
  const fork = await startDevChain({ forkUrl: chain.urls.http, blockTime: 0 })
  await fork.mint({ to, value: 2n })
  const balances = [await balanceOf(to, fork), await balanceOf(to)]
  const chainId = await getChainId(fork.clients.public)
  await fork.stop()
  expect([...balances, chainId]).toEqual([7n, 5n, 31337])
})

test('a fork without the token is refused, and its node ended', async () => {
  const before = processes()
  const forkUrl = chain.urls.http
  await expect(
    startDevChain({ forkUrl, network: 'polygon' }),
  ).rejects.toMatchObject({
    name: 'DevTokenNotFoundError',
    message:
      'The forked chain has no polygon token at 0x3c499c542cef5e3811e1192ce70d8cc03d5c3359.',
  })
  await vi.waitFor(() => expect(processes()).toBe(before), patience)
})

test('a signature made here is refused under the id of the real chain', async () => {
  const other = await startDevChain({ blockTime: 0 })
  const { public: client, test: node } = other.clients
  const message = {
    from: payer.address,
    to: merchant.address,
    value: 1n,
    validAfter: 0n,
    validBefore: maxUint256,
    nonce: zeroHash,
  }
  const rehearse = async (chainId: bigint) => {
    const verifyingContract = other.token
    const signature = await payer.signTypedData({
      domain: { name: 'USD Coin', version: '2', chainId, verifyingContract },
      types: typedDataTypes,
      primaryType: 'ReceiveWithAuthorization',
      message,
    })
    const { from, to, value, validAfter, validBefore, nonce } = message
    return simulateContract(client, {
      address: other.token,
      abi,
      functionName: 'receiveWithAuthorization',
      args: [from, to, value, validAfter, validBefore, nonce, signature],
      account: merchant.address,
    }).then(
      () => 'accepted',
      () => 'refused',
    )
  }
  const here = [await rehearse(31337n), await rehearse(8453n)]
  await node.request({
    method: 'anvil_setChainId' as 'anvil_mine',
    params: [8453] as never,
  })
  const there = [await rehearse(31337n), await rehearse(8453n)]
  await other.stop()
  expect([here, there]).toEqual([
    ['accepted', 'refused'],
    ['refused', 'accepted'],
  ])
})

test('stopping ends the node, and again does nothing', async () => {
  const before = processes()
  const stopped = await startDevChain()
  await stopped.stop()
  await stopped.stop()
  await vi.waitFor(() => expect(processes()).toBe(before), patience)
  await expect(fetch(stopped.urls.http)).rejects.toThrow()
})

test.each([
  ['stops its chain', 'await chain.stop()'],
  ['exits without stopping its chain', 'process.exit()'],
])('a program that %s leaves nothing behind', async (_, end) => {
  const script = `import { startDevChain } from './src/devchain/index.ts'
    const chain = await startDevChain()
    process.stdout.write(chain.urls.http)
    ${end}`
  const args = ['--import', 'tsx', '--input-type=module', '-e', script]
  const cwd = fileURLToPath(new URL('../../..', import.meta.url))
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, args, { cwd })
  await expect(fetch(stdout)).rejects.toThrow('fetch failed')
})

test('a missing program is an error that says how to get it', async () => {
  await expect(startDevChain({ binary: '/nowhere/anvil' })).rejects.toThrow(
    'No anvil program at "/nowhere/anvil": install Foundry, add the npm package @foundry-rs/anvil-<platform>-<arch>, or pass its path as binary.',
  )
  await expect(
    startDevChain({ binary: 'no-such-anvil' }),
  ).rejects.toMatchObject({ name: 'AnvilNotFoundError', retryable: false })
})

test.each(['none', 'flashblocks', 'fastBlocks'] as const)(
  'a taken port is an error, and no node stays (%s)',
  async (preconfirmations) => {
    const before = processes()
    const port = Number(new URL(chain.urls.http).port)
    await expect(
      startDevChain({ port, preconfirmations }),
    ).rejects.toMatchObject({
      name: 'AnvilStartError',
      retryable: true,
      message: expect.stringContaining('in use'),
    })
    await vi.waitFor(() => expect(processes()).toBe(before), patience)
  },
)

const malformed: readonly object[] = [
  { port: -1 },
  { port: 70_000 },
  { port: 80.5 },
  { port: Number.NaN },
  { blockTime: -1 },
  { blockTime: Number.NaN },
  { blockTime: Number.POSITIVE_INFINITY },
  { blockTime: 10_000_000 },
  { tick: 10_000_000_000 },
  { preconfirmations: 'flashbots' },
  { preconfirmations: 'toString' },
  { forkUrl: '' },
]

test.each(malformed)('the option %o is refused by its name', async (option) => {
  const before = processes()
  for (const preconfirmations of ['none', 'fastBlocks'] as const)
    await expect(
      startDevChain({ preconfirmations, ...option }),
    ).rejects.toMatchObject({
      name: 'InvalidFieldError',
      details: { field: Object.keys(option)[0] },
    })
  expect(processes()).toBe(before)
})

test.each([-1, 1.5, Number.NaN, 2n ** 64n])(
  'a warp of %s seconds is refused',
  async (seconds) => {
    await expect(chain.warp(seconds)).rejects.toMatchObject({
      name: 'InvalidFieldError',
      details: { field: 'seconds' },
    })
  },
)

test('the URL of a fork that fails is not repeated', async () => {
  const forkUrl = 'http://127.0.0.1:9/my-key'
  const error = await startDevChain({ forkUrl }).catch(String)
  expect(error).toContain('AnvilStartError')
  expect(error).not.toContain('my-key')
})

test.each([2, 3.5, 1001])('%d accounts are refused', async (accounts) => {
  await expect(startDevChain({ accounts })).rejects.toMatchObject({
    name: 'InvalidFieldError',
  })
})
