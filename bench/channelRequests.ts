import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type FacilitatorClient, x402ResourceServer } from '@x402/core/server'
import { toClientEvmSigner } from '@x402/evm'
import {
  BatchSettlementEvmScheme as ClientScheme,
  computeChannelId,
} from '@x402/evm/batch-settlement/client'
import {
  type ChannelStorage,
  BatchSettlementEvmScheme as ServerScheme,
} from '@x402/evm/batch-settlement/server'
import { FileChannelStorage } from '@x402/evm/batch-settlement/server/file-storage'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { paymentMiddleware } from '@x402/hono'
import { loadAccelerator } from 'countersign/accelerate'
import {
  channels,
  createChannels,
  voucherTypedData,
} from 'countersign/channels'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import { sealer } from 'countersign/store'
import { createX402Gate } from 'countersign/x402'
import { Hono } from 'hono'
import { createWalletClient, http, type PrivateKeyAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { readContract } from 'viem/actions'
import { compareTimes, median, type Row } from './compare.js'
import { makeFolder } from './ordersShop.js'
import { sized } from './sized.js'

const rounds = 5
/** Requests in a round, of all channels together. */
const count = sized(100, 10)
const price = 10_000n
const address = 'http://api.example/words'

type Side = {
  fetch: (request: Request) => Response | Promise<Response>
  stop: () => Promise<void>
}

type SideName = 'own' | 'memory' | 'file'

const peers = {
  memory: 'stock server of x402, state in memory',
  file: 'stock server of x402, state in files',
}

/** How many times the peer's time ours must be faster at least. */
const goals = { memory: 1, file: 5 }

/**
 * Paid requests over channels, each with the next voucher, in process: ours
 * durable and sealed in SQLite, the stock server's in memory and in files, which
 * it does not sync. Then the answers to requests without a payment.
 */
export async function benchChannelRequests(): Promise<Row[]> {
  const rows: Row[] = []
  for (const many of [1, sized(50, 5)]) rows.push(...(await race(many)))
  return rows
}

async function race(many: number): Promise<Row[]> {
  const chain = await startDevChain({ channels: true, blockTime: 0 })
  const folder = makeFolder()
  const sides: Record<SideName, Side> = {
    own: await openOwn(chain),
    memory: await openStock(chain),
    file: await openStock(
      chain,
      new FileChannelStorage({ directory: folder.path }),
    ),
  }
  try {
    const paid = await racePaid(chain, sides, many)
    return many === 1 ? [...paid, await raceUnpaid(sides)] : paid
  } finally {
    for (const side of Object.values(sides)) await side.stop()
    folder.remove()
    await chain.stop()
  }
}

async function racePaid(
  chain: DevChain,
  sides: Record<SideName, Side>,
  many: number,
): Promise<Row[]> {
  const open = (side: Side) =>
    Promise.all(Array.from({ length: many }, () => openChannel(chain, side)))
  const buyers = {
    own: await open(sides.own),
    memory: await open(sides.memory),
    file: await open(sides.file),
  }
  const cpu: Record<SideName, number[]> = { own: [], memory: [], file: [] }
  const prepare = async (name: SideName) => {
    const headers = await signNext(buyers[name])
    return async () => {
      const before = process.cpuUsage()
      await payAll(sides[name], headers)
      const { user, system } = process.cpuUsage(before)
      cpu[name].push((user + system) / 1000 / count)
    }
  }
  const { milliseconds, ratios } = await compareTimes('own', {
    rounds,
    prepare: async () => ({
      own: await prepare('own'),
      memory: await prepare('memory'),
      file: await prepare('file'),
    }),
  })
  const where = many === 1 ? 'one channel' : `${many} channels`
  const rate = (name: SideName) => (1000 * count) / (milliseconds[name] ?? 0)
  const spent = (name: SideName) => median(cpu[name].slice(-rounds))
  return (['memory', 'file'] as const).flatMap((name) => [
    {
      name: `paid request over ${where}: ${rate('own').toFixed(0)} a second, stock ${rate(name).toFixed(0)}`,
      peer: peers[name],
      ratio: ratios[name] ?? 0,
      goal: goals[name],
      unit: 'time',
      sides: { own: rate('own'), peer: rate(name), unit: 'a second' as const },
      why: 'Each of our answers waits until charge, voucher and answer are synced to the disk. The peer syncs nothing.',
    },
    {
      name: `paid request over ${where}: CPU ${spent('own').toFixed(2)} ms, stock ${spent(name).toFixed(2)} ms`,
      peer: peers[name],
      ratio: spent(name) / spent('own'),
      goal: 0,
      unit: 'time',
      sides: { own: spent('own'), peer: spent(name), unit: 'ms' as const },
    },
  ])
}

/** Answers with the status 402. Channels on record do not matter for them. */
async function raceUnpaid({
  own,
  memory,
}: Record<SideName, Side>): Promise<Row> {
  const ask = (side: Side) => async () => {
    for (let at = 0; at < count; at++) {
      const answer = await side.fetch(new Request(address))
      if (answer.status !== 402) throw new Error(`answer ${answer.status}`)
      await answer.arrayBuffer()
    }
  }
  const { milliseconds, ratios } = await compareTimes('own', {
    rounds,
    prepare: () => ({ own: ask(own), memory: ask(memory) }),
  })
  const each = (name: SideName) => (milliseconds[name] ?? 0) / count
  return {
    name: `offer of a channel: ${each('own').toFixed(2)} ms, stock ${each('memory').toFixed(2)} ms`,
    peer: peers.memory,
    ratio: ratios.memory ?? 0,
    goal: 1,
    unit: 'time',
    sides: { own: each('own'), peer: each('memory'), unit: 'ms' },
  }
}

/** Each channel's requests one after another, all channels at once. */
async function payAll(side: Side, all: readonly string[][]): Promise<void> {
  await Promise.all(
    all.map(async (headers) => {
      for (const header of headers) {
        const answer = await side.fetch(requestWith(header))
        if (!answer.ok) throw new Error(`answer ${answer.status}`)
        await answer.arrayBuffer()
      }
    }),
  )
}

const requestWith = (payment: string) =>
  new Request(address, { headers: { 'payment-signature': payment } })

type Voucher = { channelId: `0x${string}`; maxClaimableAmount: string }
type Payload = {
  payload: { channelConfig: object; voucher: Voucher; type?: string }
}
type Buyer = {
  account: PrivateKeyAccount
  charged: bigint
  template: Payload
}

/** Opens a channel by the stock client, and keeps what it sent. */
async function openChannel(chain: DevChain, side: Side): Promise<Buyer> {
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.mint({ to: account.address, value: 50_000_000n })
  const signer = toClientEvmSigner(account, {
    readContract: (given) => readContract(chain.clients.public, given as never),
  })
  let sent = ''
  const send = async (input: Request | URL | string, init?: RequestInit) => {
    const request = new Request(input, init)
    sent = request.headers.get('payment-signature') ?? sent
    return side.fetch(request)
  }
  const client = x402Client.fromConfig({
    schemes: [{ network: 'eip155:*', client: new ClientScheme(signer) }],
    spendControls: { allowedAssets: true },
  })
  const answer = await wrapFetchWithPayment(send, client)(address)
  if (!answer.ok) throw new Error(`no channel: ${answer.status}`)
  const template: Payload = JSON.parse(atob(sent))
  return { account, charged: price, template }
}

/** Signs the next vouchers of all channels, for one round. */
function signNext(buyers: readonly Buyer[]): Promise<string[][]> {
  return Promise.all(
    buyers.map(async (buyer) => {
      const headers: string[] = []
      for (let at = 0; at < count / buyers.length; at++) {
        buyer.charged += price
        headers.push(await signOne(buyer))
      }
      return headers
    }),
  )
}

async function signOne({ account, charged, template }: Buyer): Promise<string> {
  const { channelConfig, voucher } = template.payload
  const { channelId } = voucher
  const signature = await account.signTypedData(
    voucherTypedData({
      chainId: 31337,
      voucher: { channelId, maxClaimable: charged },
    }) as never,
  )
  const next = { channelId, maxClaimableAmount: String(charged), signature }
  const payload = { type: 'voucher', channelConfig, voucher: next }
  return btoa(JSON.stringify({ ...template, payload }))
}

async function openOwn(chain: DevChain): Promise<Side> {
  const { keccak256, recoverAddress } = await loadAccelerator()
  const folder = makeFolder()
  const client = createReadClient({ chain: chain.chain, url: chain.urls.http })
  const account = privateKeyToAccount(generatePrivateKey())
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  await chain.clients.test.setBalance({
    address: account.address,
    value: 10n ** 20n,
  })
  const orders = createOrders({
    store: sqliteStore({ file: join(folder.path, 'channels.db') }),
    seal: sealer({ keys: { one: randomBytes(32) }, current: 'one' }),
    tokens: [{ client, token: chain.token }],
    wallets: [wallet],
    kinds: [channels()],
    policy: { pollingInterval: 20 },
    keccak256,
  })
  const kept = createChannels({
    orders,
    recoverAddress,
    policy: { copyFor: 300n },
  })
  const gate = createX402Gate({
    orders,
    channels: kept,
    offers: { words: { atMost: '0.01', flow: 'channel', deposit: '20' } },
  })
  return {
    fetch: gate.protect('words', () => Response.json({ words: 'so' })),
    stop: async () => {
      await orders.close()
      folder.remove()
    },
  }
}

/** The stock server, with a facilitator that answers at once and checks nothing. */
async function openStock(
  { token }: DevChain,
  storage?: ChannelStorage,
): Promise<Side> {
  const network = 'eip155:31337'
  const { address: payTo } = privateKeyToAccount(generatePrivateKey())
  const scheme = new ServerScheme(payTo, storage && { storage })
  scheme.registerMoneyParser?.(async () => ({
    amount: String(price),
    asset: token,
    extra: { name: 'USD Coin', version: '2' },
  }))
  const server = new x402ResourceServer(stubFacilitator(network)).register(
    network,
    scheme,
  )
  const offer = {
    scheme: 'batch-settlement',
    network,
    payTo,
    price: '$0.01',
    extra: { minDeposit: '20000000' },
  } as const
  const app = new Hono()
  app.use(paymentMiddleware({ 'GET /words': { accepts: offer } }, server))
  app.get('/words', (context) => context.json({ words: 'so' }))
  return { fetch: app.fetch, stop: async () => {} }
}

type StockConfig = Parameters<typeof computeChannelId>[0]

function stubFacilitator(network: 'eip155:31337'): FacilitatorClient {
  const authorizer = privateKeyToAccount(generatePrivateKey()).address
  const balances = new Map<string, bigint>()
  const stateOf = (config: StockConfig) => {
    const channelId = computeChannelId(config, network)
    return {
      channelId,
      balance: String(balances.get(channelId) ?? 0n),
      totalClaimed: '0',
      withdrawRequestedAt: 0,
      refundNonce: '0',
    }
  }
  return {
    getSupported: async () => ({
      kinds: [
        {
          x402Version: 2,
          scheme: 'batch-settlement',
          network,
          extra: { receiverAuthorizer: authorizer },
        },
      ],
      extensions: [],
      signers: { 'eip155:*': [authorizer] },
    }),
    verify: async ({ payload }) => {
      const { channelConfig } = payload as { channelConfig: StockConfig }
      const { payer } = channelConfig
      return { isValid: true, payer, extra: stateOf(channelConfig) }
    },
    settle: async ({ payload }) => {
      const { channelConfig, deposit } = payload as {
        channelConfig: StockConfig
        deposit?: { amount: string }
      }
      const { channelId } = stateOf(channelConfig)
      const amount = deposit?.amount ?? '0'
      balances.set(channelId, (balances.get(channelId) ?? 0n) + BigInt(amount))
      return {
        success: true,
        transaction: `0x${randomBytes(32).toString('hex')}`,
        network,
        payer: channelConfig.payer,
        amount,
        extra: { channelState: stateOf(channelConfig) },
      }
    },
  }
}
