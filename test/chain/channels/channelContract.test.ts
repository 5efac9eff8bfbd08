import {
  buildDeposit,
  type ChannelCall,
  type ChannelConfig,
  type ClaimRow,
  channelContract,
  channelMulticall,
  checkVoucher,
  claimCall,
  claimTypedData,
  claimWithSignatureCall,
  decodeChannelLog,
  depositCall,
  finalizeWithdrawCall,
  getChannel,
  getChannels,
  getSettled,
  hashChannelConfig,
  hashClaim,
  hashVoucher,
  initiateWithdrawCall,
  refundCall,
  refundTypedData,
  refundWithSignatureCall,
  settleCall,
  signVoucher,
} from 'countersign/channels'
import {
  type Address,
  createClient,
  createWalletClient,
  custom,
  type EIP1193RequestFn,
  type Hex,
  hashTypedData,
  type PrivateKeyAccount,
} from 'viem'
import {
  getBlockNumber,
  sendTransaction,
  waitForTransactionReceipt,
} from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  chain,
  type Channel as Desk,
  newChannel,
  view,
} from '../support/channelDesk.js'
import { domainOf, randomHash } from '../support/desk.js'
import { reformSignature } from '../support/reformSignature.js'

afterAll(() => chain.stop())

const { public: reader, relayer } = chain.clients
const chainId = 31337
const million = 1_000_000n

async function send(
  { to, data }: ChannelCall,
  account: PrivateKeyAccount = relayer.account,
) {
  const hash = await sendTransaction(relayer, { account, to, data })
  const receipt = await waitForTransactionReceipt(reader, { hash })
  expect(receipt.status).toBe('success')
  const events = receipt.logs
    .filter(({ address }) => address === channelContract)
    .map(decodeChannelLog)
  return { events, block: receipt.blockNumber }
}

const lower = (address: Address) => address.toLowerCase() as Address

/** The terms as this library writes them. */
const termsOf = ({ config }: Desk): ChannelConfig => ({
  ...config,
  payer: lower(config.payer),
  payerAuthorizer: lower(config.payerAuthorizer),
  receiver: lower(config.receiver),
  receiverAuthorizer: lower(config.receiverAuthorizer),
  token: lower(config.token),
})

async function deposit(channel: Desk, value = 10n * million) {
  const { payment, salt } = buildDeposit({
    config: channel.config,
    domain: domainOf(channel.config.token, 'USD Coin'),
    value,
    validAfter: 0n,
    validBefore: 2n ** 36n,
  })
  const { primaryType, message, domain } = payment
  const signature = await channel.payer.signTypedData({
    domain,
    types: {
      ReceiveWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: primaryType as 'ReceiveWithAuthorization',
    message,
  })
  const signed = { ...payment, signature }
  return send(depositCall({ config: channel.config, payment: signed, salt }))
}

/** A channel with 10 tokens, opened by this library's own call. */
async function open(...given: Parameters<typeof newChannel>) {
  const channel = await newChannel(...given)
  return { ...channel, ...(await deposit(channel)) }
}

async function rowOf(
  { id, config, payer }: Desk,
  maxClaimable: bigint,
  claimed = maxClaimable,
): Promise<ClaimRow> {
  const client = createWalletClient({
    account: payer,
    transport: custom(reader),
  })
  const voucher = { channelId: id, maxClaimable }
  const { signature } = await signVoucher(client, { chainId, voucher })
  return { config, maxClaimable, claimed, signature }
}

const state = (channelId: Hex) => getChannel(reader, { channelId })
const submitter = lower(relayer.account.address)

test('a deposit opens a channel, a second one adds to it', async () => {
  const { id, events, block, ...channel } = await open()
  const config = termsOf({ id, ...channel })
  expect(events).toEqual([
    { name: 'created', channelId: id, config },
    {
      name: 'deposited',
      channelId: id,
      submitter,
      value: 10n * million,
      balance: 10n * million,
    },
  ])
  const first = await state(id)
  const { timestamp } = await reader.getBlock({ blockNumber: block })
  expect(first).toEqual({
    balance: 10n * million,
    claimed: 0n,
    withdrawal: undefined,
    refundNonce: 0n,
    at: { blockNumber: block, blockTime: timestamp },
  })
  const again = await deposit({ id, ...channel }, 1n)
  expect(again.events).toMatchObject([
    { name: 'deposited', value: 1n, balance: 10n * million + 1n },
  ])
  expect((await state(id)).balance).toBe(10n * million + 1n)
  // The block that the caller names is the one that is read.
  expect(
    await getChannel(reader, { channelId: id, blockNumber: block }),
  ).toEqual(first)
})

test('the contract computes the same id and digests', async () => {
  const channel = await newChannel({ salt: randomHash() })
  const { config } = channel
  const channelId = hashChannelConfig({ config, chainId })
  const row = await rowOf(channel, 7n, 5n)
  const voucher = { channelId, maxClaimable: 7n }
  const claim = { chainId, rows: [row] }
  const refund = refundTypedData({ chainId, channelId, nonce: 3n, value: 5n })
  const struct = {
    voucher: { channel: config, maxClaimableAmount: 7n },
    signature: row.signature,
    totalClaimed: 5n,
  }
  expect([
    await view('getChannelId', [config]),
    await view('getVoucherDigest', [channelId, 7n]),
    await view('getClaimBatchDigest', [[struct]]),
    await view('getRefundDigest', [channelId, 3n, 5n]),
  ]).toEqual([
    channelId,
    hashVoucher({ chainId, voucher }),
    hashClaim(claim),
    hashTypedData(refund),
  ])
  expect(hashTypedData(claimTypedData(claim))).toBe(hashClaim(claim))
})

test('anyone claims and settles with the signature of the authorizer', async () => {
  const one = await open()
  const { receiver, authorizer } = one
  const two = await open({}, { receiver, authorizer })
  const rows = [
    await rowOf(one, 5n * million, 3n * million),
    await rowOf(two, 2n * million),
  ]
  const signature = await authorizer.signTypedData(
    claimTypedData({ chainId, rows }),
  )
  const pair = { receiver: one.config.receiver, token: one.config.token }
  const { events } = await send(
    channelMulticall({
      calls: [claimWithSignatureCall({ rows, signature }), settleCall(pair)],
    }),
  )
  expect(events).toEqual([
    {
      name: 'claimed',
      channelId: one.id,
      submitter,
      value: 3n * million,
      claimed: 3n * million,
    },
    {
      name: 'claimed',
      channelId: two.id,
      submitter,
      value: 2n * million,
      claimed: 2n * million,
    },
    {
      name: 'settled',
      receiver: lower(pair.receiver),
      token: lower(pair.token),
      submitter,
      value: 5n * million,
    },
  ])
  expect(await getSettled(reader, pair)).toMatchObject({
    claimed: 5n * million,
    settled: 5n * million,
  })
  await send(claimCall({ rows: [await rowOf(one, 4n * million)] }), receiver)
  expect(await getSettled(reader, pair)).toMatchObject({
    claimed: 6n * million,
    settled: 5n * million,
  })
})

test.each(['v of 0 or 1', 'high s', '64 bytes'] as const)(
  'a voucher with %s is mended, and the contract takes it',
  async (form) => {
    const channel = await open()
    const row = await rowOf(channel, million)
    const verdict = await checkVoucher({
      chainId,
      voucher: { channelId: channel.id, maxClaimable: million },
      signature: reformSignature(row.signature, form),
      signer: channel.config.payerAuthorizer,
    })
    expect(verdict).toEqual({ ok: true, signature: row.signature })
    const mended = { ...row, signature: reformSignature(row.signature, form) }
    const { events } = await send(
      claimCall({ rows: [mended] }),
      channel.receiver,
    )
    expect(events).toMatchObject([{ name: 'claimed', value: million }])
  },
)

test('refunds by the receiver, and with the signature of the authorizer', async () => {
  const { id, config, receiver, authorizer } = await open()
  const first = await send(refundCall({ config, value: million }), receiver)
  expect(first.events).toEqual([
    {
      name: 'refunded',
      channelId: id,
      submitter: lower(receiver.address),
      value: million,
    },
  ])
  const { refundNonce: nonce } = await state(id)
  expect(nonce).toBe(1n)
  const value = 20n * million
  const signature = await authorizer.signTypedData(
    refundTypedData({ chainId, channelId: id, nonce, value }),
  )
  const { events } = await send(
    refundWithSignatureCall({ config, value, nonce, signature }),
  )
  expect(events).toMatchObject([
    { name: 'refunded', value: 9n * million },
    { name: 'closed', channelId: id },
  ])
  expect(await state(id)).toMatchObject({ balance: 0n, refundNonce: 2n })
})

test('a withdrawal is seen from its start to its end', async () => {
  const { id, config, payer } = await open()
  const value = 4n * million
  const started = await send(initiateWithdrawCall({ config, value }), payer)
  const { timestamp } = await reader.getBlock({ blockNumber: started.block })
  expect(started.events).toEqual([
    {
      name: 'withdrawInitiated',
      channelId: id,
      value,
      withdrawableAt: timestamp + 900n,
    },
  ])
  expect((await state(id)).withdrawal).toEqual({
    value,
    initiatedAt: timestamp,
  })
  await chain.warp(901)
  const { events } = await send(finalizeWithdrawCall({ config }), payer)
  expect(events).toEqual([
    {
      name: 'withdrawFinalized',
      channelId: id,
      submitter: lower(payer.address),
      value,
    },
  ])
  expect(await state(id)).toMatchObject({
    balance: 6n * million,
    withdrawal: undefined,
  })
})

/** A client that counts its requests, of a node with or without overrides. */
function countingClient(canOverride: boolean) {
  const asked: string[] = []
  const request: EIP1193RequestFn = async (given) => {
    const { method, params } = given as { method: string; params?: unknown[] }
    asked.push(method)
    if (!canOverride && method === 'eth_call' && (params?.length ?? 0) > 2)
      throw Object.assign(new Error('too many arguments, want at most 2'), {
        code: -32602,
      })
    return reader.request(given as never)
  }
  const transport = custom({ request }, { retryCount: 0 })
  return { asked, client: createClient({ transport }) }
}

test.each([true, false])(
  'many channels are read in few requests (state overrides: %s)',
  async (canOverride) => {
    const channel = await open()
    const unknown = Array.from({ length: 59 }, () => randomHash())
    const channelIds = [
      ...unknown.slice(0, 55),
      channel.id,
      ...unknown.slice(55),
    ]
    const { asked, client } = countingClient(canOverride)
    const none = {
      balance: 0n,
      claimed: 0n,
      refundNonce: 0n,
      withdrawal: undefined,
    }
    const states = await getChannels(client, { channelIds })
    expect(states).toHaveLength(60)
    for (const [index, found] of states.entries())
      expect(found).toMatchObject(
        index === 55 ? { ...none, balance: 10n * million } : none,
      )
    expect(new Set(asked)).toEqual(new Set(['eth_call']))
    expect(asked).toHaveLength(canOverride ? 2 : 4)
    // The client remembers what its node cannot do.
    await getChannel(client, { channelId: channel.id })
    expect(asked).toHaveLength(canOverride ? 3 : 5)
    expect(await getChannels(client, { channelIds: [] })).toEqual([])
  },
)

test('a block without the contract gives no channel of zeros', async () => {
  const { receiver, token } = (await newChannel()).config
  const empty = createClient({
    transport: custom({
      request: (async (given: { method: string; params: unknown[] }) => {
        const text = JSON.stringify(given.params)
        const elsewhere = text.replaceAll(
          channelContract.slice(2),
          '99'.repeat(20),
        )
        return reader.request({
          ...given,
          params: JSON.parse(elsewhere),
        } as never)
      }) as EIP1193RequestFn,
    }),
  })
  const problem = {
    name: 'NodeAnswerError',
    details: { problem: 'does not come from the channel contract' },
  }
  await expect(
    getChannel(empty, { channelId: randomHash() }),
  ).rejects.toMatchObject(problem)
  await expect(getSettled(empty, { receiver, token })).rejects.toMatchObject(
    problem,
  )
})

test('tag and number together, or a malformed one, are refused', async () => {
  const channelId = randomHash()
  const blockNumber = await getBlockNumber(reader)
  for (const [change, field] of [
    [{ blockTag: 'latest', blockNumber }, 'blockTag'],
    [{ blockNumber: -1n }, 'blockNumber'],
    [{ blockNumber: 5 }, 'blockNumber'],
    [{ blockTag: 'newest' }, 'block'],
    [{ channelId: '0x12' }, 'channelId'],
  ] as const)
    await expect(
      getChannel(reader, { channelId, ...change } as never),
    ).rejects.toMatchObject({ name: 'InvalidFieldError', details: { field } })
})
