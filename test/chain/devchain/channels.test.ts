import { startDevChain } from 'countersign/devchain'
import { encodeAbiParameters, type Hex, zeroAddress, zeroHash } from 'viem'
import {
  getCode,
  getTransactionCount,
  setCode,
  simulateContract,
} from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { depositCollectorStandInArtifact } from '../../../src/devchain/contracts/DepositCollectorStandIn.generated.js'
import {
  balanceOf,
  chain,
  channelContract,
  claimRow,
  depositCall,
  depositCollector,
  idOf,
  newChannel,
  openChannel,
  refusal,
  send,
  view,
} from '../support/channelDesk.js'

afterAll(() => chain.stop())
const { public: reader, payer, merchant, relayer } = chain.clients

const million = 1_000_000n

test('the stand-ins are at the addresses that x402 publishes, with Multicall3, and cost no account a nonce', async () => {
  for (const address of [
    channelContract,
    depositCollector,
    '0xcA11bde05977b3631167028862bE2a173976CA11',
  ] as const)
    expect(await getCode(reader, { address })).toBeDefined()
  for (const { account } of [payer, merchant]) {
    const { address } = account
    expect(await getTransactionCount(reader, { address })).toBe(0)
  }
})

test('a chain has no channels unless asked for', async () => {
  const plain = await startDevChain({ blockTime: 0 })
  const code = await getCode(plain.clients.public, { address: channelContract })
  await plain.stop()
  expect(code).toBeUndefined()
})

test.each([
  [{ channels: 1 }, 'channels must be true or false, not 1 (number).'],
  [
    { channels: true, forkUrl: 'http://127.0.0.1:1' },
    'channels must be left out with forkUrl, since a fork has its own contracts, not true (boolean).',
  ],
])('an option is refused: %o', async (options, message) => {
  await expect(startDevChain(options as never)).rejects.toThrow(message)
})

test('the id is the hash of the typed data, and the domain names this chain', async () => {
  const { config, id } = await newChannel({ salt: `0x${'01'.repeat(32)}` })
  expect(await view('getChannelId', [config])).toBe(id)
  expect(await view('eip712Domain', [])).toEqual([
    '0x0f',
    'x402 Batch Settlement',
    '1',
    31337n,
    channelContract,
    zeroAddress,
    [],
  ])
})

test('a first deposit opens the channel, and a second adds to it', async () => {
  const channel = await newChannel()
  const { config, id } = channel
  const before = Number(await balanceOf(channelContract))
  const first = await send(await depositCall(channel, 10n * million))
  const sender = relayer.account.address
  expect(first.events).toEqual([
    { eventName: 'ChannelCreated', args: { channelId: id, config } },
    {
      eventName: 'Deposited',
      args: {
        channelId: id,
        sender,
        amount: 10n * million,
        newBalance: 10n * million,
      },
    },
  ])
  const second = await send(await depositCall(channel, 2n * million))
  expect(second.events).toMatchObject([
    { eventName: 'Deposited', args: { newBalance: 12n * million } },
  ])
  expect(await view('channels', [id])).toEqual([12n * million, 0n])
  expect(Number(await balanceOf(channelContract)) - before).toBe(12_000_000)
  expect(await balanceOf(depositCollector)).toBe(0n)
})

test.each([
  ['payer', { payer: zeroAddress }, 'InvalidChannel'],
  ['receiver', { receiver: zeroAddress }, 'InvalidChannel'],
  ['authorizer', { receiverAuthorizer: zeroAddress }, 'InvalidChannel'],
  ['token', { token: zeroAddress }, 'InvalidChannel'],
  ['delay of 899 s', { withdrawDelay: 899 }, 'WithdrawDelayOutOfRange'],
  [
    'delay of 30 days and 1 s',
    { withdrawDelay: 2_592_001 },
    'WithdrawDelayOutOfRange',
  ],
  ['delay of 900 s', { withdrawDelay: 900 }, 'no error'],
  ['delay of 30 days', { withdrawDelay: 2_592_000 }, 'no error'],
])('a deposit with this %s: %o gives %s', async (_, changes, expected) => {
  const channel = await newChannel()
  const config = { ...channel.config, ...changes }
  const changed = { ...channel, config, id: idOf(config) }
  const call = await depositCall(
    { ...changed, config: { ...config, token: chain.token } },
    million,
  )
  const [, ...rest] = call.args
  expect(await refusal({ ...call, args: [config, ...rest] })).toBe(expected)
})

test('a deposit of nothing, of another amount, without collector or sent again is refused', async () => {
  const channel = await newChannel()
  const call = await depositCall(channel, million)
  const [config, amount, collector, data] = call.args
  const refusalOf = (...args: readonly unknown[]) => refusal({ ...call, args })
  expect(await refusalOf(config, 0n, collector, data)).toBe('ZeroDeposit')
  expect(await refusalOf(config, amount, zeroAddress, data)).toBe(
    'InvalidCollector',
  )
  expect(await refusalOf(config, 2n * million, collector, data)).toBe(
    'FiatTokenV2: invalid signature',
  )
  const other = { ...channel.config, salt: `0x${'02'.repeat(32)}` }
  expect(await refusalOf(other, amount, collector, data)).toBe(
    'FiatTokenV2: invalid signature',
  )
  await send(call)
  expect(await refusal(call)).toBe(
    'FiatTokenV2: authorization is used or canceled',
  )
})

test('a deposit whose collector brings nothing is refused', async () => {
  const { config } = await newChannel()
  const idle = '0x00000000000000000000000000000000000000c1'
  await setCode(chain.clients.test, { address: idle, bytecode: '0x00' })
  const args = [config, million, idle, '0x']
  expect(await refusal({ functionName: 'deposit', args })).toBe(
    'DepositCollectionFailed',
  )
})

test('the collector obeys the contract of the channels alone', async () => {
  const data = encodeAbiParameters(
    [
      { type: 'uint256' },
      { type: 'uint256' },
      { type: 'uint256' },
      { type: 'bytes' },
    ],
    [0n, 2n ** 40n, 1n, '0x'],
  )
  const collect = simulateContract(reader, {
    address: depositCollector,
    abi: depositCollectorStandInArtifact.abi,
    functionName: 'collect',
    args: [payer.account.address, chain.token, 1n, zeroHash as Hex, data],
    account: relayer.account,
  })
  await expect(collect).rejects.toThrow('OnlyX402BatchSettlement')
})

test('settle sweeps all that is claimed of a receiver and token, once, by anybody', async () => {
  const first = await openChannel()
  const { receiver, authorizer } = first
  const second = await openChannel({}, { receiver, authorizer })
  const rows = [
    await claimRow(first, 3n * million),
    await claimRow(second, 4n * million),
  ]
  await send({ functionName: 'claim', args: [rows], from: receiver })
  const pair = [receiver.address, chain.token]
  expect(await view('receivers', pair)).toEqual([7n * million, 0n])
  const settle = { functionName: 'settle', args: pair }
  const { events } = await send(settle)
  expect(events).toEqual([
    {
      eventName: 'Settled',
      args: {
        receiver: receiver.address,
        token: expect.stringMatching(new RegExp(chain.token, 'i')),
        sender: relayer.account.address,
        amount: 7n * million,
      },
    },
  ])
  expect(await balanceOf(receiver.address)).toBe(7n * million)
  expect(await view('receivers', pair)).toEqual([7n * million, 7n * million])
  expect((await send(settle)).events).toEqual([])
  expect(await view('channels', [first.id])).toEqual([
    10n * million,
    3n * million,
  ])
})
