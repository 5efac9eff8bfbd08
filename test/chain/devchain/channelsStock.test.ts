import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PaymentRequirements } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import {
  BatchSettlementEvmScheme as ClientScheme,
  computeChannelId,
} from '@x402/evm/batch-settlement/client'
import { BatchSettlementEvmScheme as FacilitatorScheme } from '@x402/evm/batch-settlement/facilitator'
import {
  type Abi,
  type AbiEvent,
  type AbiFunction,
  createWalletClient,
  http,
  publicActions,
  toEventSelector,
  toFunctionSelector,
  zeroAddress,
} from 'viem'
import { afterAll, expect, test } from 'vitest'
import {
  balanceOf,
  type Channel,
  type ChannelConfig,
  chain,
  channelAbi,
  claimRow,
  depositCall,
  encodeCall,
  idOf,
  newChannel,
  openChannel,
  send,
  view,
} from '../support/channelDesk.js'
import { fundedAccount, newAccount } from '../support/desk.js'

afterAll(() => chain.stop())

const network = 'eip155:31337'
const million = 1_000_000n

const isFunction = (item: Abi[number]): item is AbiFunction =>
  item.type === 'function'
const isEvent = (item: Abi[number]): item is AbiEvent => item.type === 'event'

/** The ABI in the code of `@x402/evm`, which no entry exports. */
async function loadStockAbi(): Promise<Abi> {
  const entry = createRequire(import.meta.url).resolve('@x402/evm')
  const folder = join(dirname(entry), '../esm')
  const name = readdirSync(folder).find(
    (file) =>
      file.endsWith('.mjs') &&
      readFileSync(join(folder, file), 'utf8').includes(
        'var batchSettlementABI',
      ),
  )
  if (!name) throw new Error('@x402/evm has no ABI of channels')
  const chunk = await import(pathToFileURL(join(folder, name)).href)
  return chunk.batchSettlementABI
}

test('the functions are those of the stock package, with the same answers', async () => {
  const shapeOf = (item: AbiFunction) => [
    toFunctionSelector(item),
    item.name,
    item.stateMutability,
    item.outputs.map(({ type }) => type),
  ]
  const own = channelAbi.filter(isFunction).map(shapeOf)
  const stock = (await loadStockAbi()).filter(isFunction).map(shapeOf)
  expect(stock).toHaveLength(17)
  expect(own).toEqual(expect.arrayContaining(stock))
})

test.each([
  ['deposit', '0x140f1e75'],
  ['claim', '0x29237b0c'],
  ['claimWithSignature', '0xe43ce1f2'],
  ['settle', '0x9db32a8f'],
  ['refund', '0xdce4bfae'],
  ['refundWithSignature', '0xb77433e9'],
  ['initiateWithdraw', '0xcf5cf3dc'],
  ['finalizeWithdraw', '0xe88377b1'],
  ['channels', '0x7a7ebd7b'],
  ['pendingWithdrawals', '0xb7f06ebe'],
  ['receivers', '0x21ff6389'],
  ['refundNonce', '0xf0dc792e'],
  ['getChannelId', '0x5e5e0b87'],
  ['multicall', '0xac9650d8'],
])('%s has the selector %s', (name, selector) => {
  const item = channelAbi.filter(isFunction).find((one) => one.name === name)
  expect(item && toFunctionSelector(item)).toBe(selector)
})

test.each([
  [
    'ChannelCreated',
    '0x69d8248d5566bdb2ebc4d218970710d8378a2ff9b709a999e052b71970f808fa',
  ],
  [
    'Deposited',
    '0x6c2a09353b5e75e70d0b9778b80a413809bb235d46c211811c474b3346791d89',
  ],
  [
    'Claimed',
    '0x36bd546bb573e8921fdbfd934bbed62d872796b01792cd240cce27f79dd3eddd',
  ],
  [
    'Settled',
    '0x7337b4386b690fdb8ba66905b92b9d45d33bc6626ee2620c905fb150ec0cc47d',
  ],
  [
    'Refunded',
    '0xa84286cf8ebc7903a663c77c8d99aa92b600d4c2fcca872a5d4a663db4eb394b',
  ],
  [
    'WithdrawInitiated',
    '0xe4280d0d903c7f258f62b07c62f262377cbaa23f7791d78126e6446e0f0e3c23',
  ],
  [
    'WithdrawFinalized',
    '0x546ce1e2242cd930c196bd08b894443562d709b4fffe4f028a75a6d233efc6e3',
  ],
])('%s has the topic %s', (name, topic) => {
  const item = channelAbi.filter(isEvent).find((one) => one.name === name)
  expect(item && toEventSelector(item)).toBe(topic)
})

test('Settled has the indexed fields of the stock package', async () => {
  const indexed = (abi: Abi) =>
    abi
      .filter(isEvent)
      .find(({ name }) => name === 'Settled')
      ?.inputs.map(({ name, type, indexed }) => [name, type, indexed])
  expect(indexed(channelAbi)).toEqual(indexed(await loadStockAbi()))
})

test.each([
  ['as it is', {}],
  ['with a delay of 30 days', { withdrawDelay: 2_592_000 }],
  ['with a salt', { salt: `0x${'ab'.repeat(32)}` as const }],
  ['without payer authorizer', { payerAuthorizer: zeroAddress }],
])('the stock client computes the id of a channel %s', async (_, changes) => {
  const { config } = await newChannel(changes)
  const id = computeChannelId(config, network)
  expect([idOf(config), await view('getChannelId', [config])]).toEqual([id, id])
})

/** The stock scheme, with an account of its own and a key that authorizes. */
async function openFacilitator() {
  const account = await fundedAccount(chain)
  const authorizer = newAccount()
  const client = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  }).extend(publicActions)
  const signer = toFacilitatorEvmSigner({
    ...client,
    address: account.address,
  } as unknown as Parameters<typeof toFacilitatorEvmSigner>[0])
  return { scheme: new FacilitatorScheme(signer, authorizer), authorizer }
}

test('the stock client pays, and the stock facilitator deposits, claims, settles and refunds', async () => {
  const { scheme, authorizer } = await openFacilitator()
  const payer = await fundedAccount(chain, 10n * million)
  const receiver = newAccount()
  const accepted: PaymentRequirements = {
    scheme: 'batch-settlement',
    network,
    amount: '10000',
    asset: chain.token,
    payTo: receiver.address,
    maxTimeoutSeconds: 300,
    extra: {
      name: 'USD Coin',
      version: '2',
      receiverAuthorizer: authorizer.address,
      withdrawDelay: 900,
      minDeposit: '100000',
    },
  }
  const pay = async () => {
    const client = new ClientScheme({
      ...payer,
      readContract: (given) =>
        chain.clients.public.readContract(given as never),
    } as ConstructorParameters<typeof ClientScheme>[0])
    const { payload } = await client.createPaymentPayload(2, accepted)
    return { x402Version: 2, payload, accepted }
  }
  const settle = (payload: Record<string, unknown>) =>
    scheme.settle(
      { x402Version: 2, payload, accepted },
      { ...accepted, amount: '0' },
    )

  const first = await pay()
  expect(first.payload).toMatchObject({ type: 'deposit' })
  expect(await scheme.verify(first, accepted)).toMatchObject({ isValid: true })
  expect(await scheme.settle(first, accepted)).toMatchObject({
    success: true,
    amount: '100000',
    extra: { channelState: { balance: '100000', totalClaimed: '0' } },
  })

  // A new client reads the channel, and so pays by voucher alone.
  const second = await pay()
  expect(second.payload).toMatchObject({ type: 'voucher' })
  expect(await scheme.verify(second, accepted)).toMatchObject({ isValid: true })
  const { channelConfig, voucher } = second.payload as {
    channelConfig: ChannelConfig
    voucher: { channelId: string; signature: string }
  }
  const claims = [
    {
      voucher: { channel: channelConfig, maxClaimableAmount: '10000' },
      signature: voucher.signature,
      totalClaimed: '10000',
    },
  ]
  expect(await settle({ type: 'claim', claims })).toMatchObject({
    success: true,
  })
  const pair = { receiver: receiver.address, token: chain.token }
  expect(await settle({ type: 'settle', ...pair })).toMatchObject({
    success: true,
    amount: '10000',
  })
  expect(await settle({ type: 'settle', ...pair })).toMatchObject({
    errorReason: 'invalid_batch_settlement_evm_nothing_to_settle',
  })
  const refund = { amount: '90000', refundNonce: '0', claims: [] }
  expect(
    await settle({ type: 'refund', channelConfig, voucher, ...refund }),
  ).toMatchObject({ success: true, amount: '90000' })
  expect(await balanceOf(receiver.address)).toBe(10_000n)
  expect(await balanceOf(payer.address)).toBe(10n * million - 10_000n)
})

/** Gas of the deployed contracts with this token, and what ours may differ. */
const measured = {
  deposit: 157_700,
  depositAgain: 140_600,
  claimOne: 48_700,
  claimedAlready: 35_000,
  claimTen: 259_300,
  claimTenLater: 242_300,
  settle: 73_940,
  claimAndSettle: 214_200,
  refund: 85_200,
}

test('gas is near that of the deployed contracts', async () => {
  const gas: Record<string, number> = {}
  const note = async (name: string, call: Parameters<typeof send>[0]) => {
    gas[name] = (await send(call)).gas
  }
  const channel = await newChannel()
  const { receiver, authorizer } = channel
  await note('deposit', await depositCall(channel, 10n * million))
  await note('depositAgain', await depositCall(channel, 10n * million))
  const claim = async (channels: readonly Channel[], total: bigint) => ({
    functionName: 'claim',
    args: [await Promise.all(channels.map((one) => claimRow(one, total)))],
    from: receiver,
  })
  const ten: Channel[] = []
  while (ten.length < 10)
    ten.push(await openChannel({}, { receiver, authorizer }))
  await note('claimTen', await claim(ten, million))
  await note('claimTenLater', await claim(ten, 2n * million))
  const pair = [receiver.address, chain.token]
  await note('settle', { functionName: 'settle', args: pair })
  await note('claimOne', await claim(ten.slice(1, 2), 3n * million))
  await note('claimedAlready', await claim(ten.slice(1, 2), 3n * million))
  const calls = [
    encodeCall(await claim(ten.slice(0, 7), 4n * million)),
    encodeCall({ functionName: 'settle', args: pair }),
  ]
  await note('claimAndSettle', {
    functionName: 'multicall',
    args: [calls],
    from: receiver,
  })
  await note('refund', {
    functionName: 'refund',
    args: [channel.config, 4n * million],
    from: receiver,
  })
  process.stdout.write(`gas ${JSON.stringify(gas)}\n`)
  for (const [name, expected] of Object.entries(measured))
    expect([name, gas[name]]).toEqual([name, expect.closeTo(expected, -5)])
})
