import { randomBytes } from 'node:crypto'
import {
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { type FacilitatorClient, x402ResourceServer } from '@x402/core/server'
import type {
  PaymentPayload,
  PaymentRequirements,
  SettleResponse,
} from '@x402/core/types'
import {
  BatchSettlementEvmScheme as ClientScheme,
  computeChannelId,
} from '@x402/evm/batch-settlement/client'
import {
  BatchSettlementChannelManager,
  BatchSettlementEvmScheme as ServerScheme,
} from '@x402/evm/batch-settlement/server'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { paymentMiddleware } from '@x402/hono'
import { sqliteStore } from 'countersign/sql'
import { sealer } from 'countersign/store'
import { channelStorage } from 'countersign/x402'
import { Hono } from 'hono'
import { getAddress, type Hex, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { readExamples } from '../../unit/support/docExamples.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-stock-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const network = 'eip155:8453'
const token = getAddress('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')
const receiver = privateKeyToAccount(generatePrivateKey()).address
const authorizer = privateKeyToAccount(generatePrivateKey())
const seal = sealer({ keys: { one: new Uint8Array(32) }, current: 'one' })

type ChannelOnChain = { balance: bigint; claimed: bigint; refunds: number }
type Payload = {
  type: string
  channelConfig: Parameters<typeof computeChannelId>[0]
  deposit?: { amount: string }
  amount?: string
  claims?: {
    voucher: { channel: Payload['channelConfig'] }
    totalClaimed: string
  }[]
}

/**
 * A facilitator with its chain in memory: it believes every signature, which
 * is not what is tried here.
 */
function stubFacilitator() {
  const channels = new Map<string, ChannelOnChain>()
  const calls: string[] = []
  const channelOf = (config: Payload['channelConfig']) => {
    const id = computeChannelId(config, network)
    const found = channels.get(id) ?? { balance: 0n, claimed: 0n, refunds: 0 }
    channels.set(id, found)
    return { id, channel: found }
  }
  const stateOf = (config: Payload['channelConfig']) => {
    const { id, channel } = channelOf(config)
    return {
      channelId: id,
      balance: String(channel.balance),
      totalClaimed: String(channel.claimed),
      withdrawRequestedAt: 0,
      refundNonce: String(channel.refunds),
    }
  }
  const claimAll = (claims: Payload['claims'] = []) => {
    for (const { voucher, totalClaimed } of claims)
      channelOf(voucher.channel).channel.claimed = BigInt(totalClaimed)
  }
  const transaction = () => toHex(randomBytes(32))
  const facilitator: FacilitatorClient = {
    getSupported: async () => ({
      kinds: [
        {
          x402Version: 2,
          scheme: 'batch-settlement',
          network,
          extra: { receiverAuthorizer: authorizer.address },
        },
      ],
      extensions: [],
      signers: { 'eip155:*': [authorizer.address] },
    }),
    verify: async ({ payload }: PaymentPayload) => {
      const { channelConfig } = payload as Payload
      const { payer } = channelConfig
      return { isValid: true, payer, extra: stateOf(channelConfig) }
    },
    settle: async (
      { payload }: PaymentPayload,
      _: PaymentRequirements,
    ): Promise<SettleResponse> => {
      const { type, channelConfig, deposit, claims, amount } =
        payload as Payload
      calls.push(type)
      const done = {
        success: true,
        transaction: transaction(),
        network,
      } as const
      claimAll(claims)
      if (!channelConfig) return done
      const { channel } = channelOf(channelConfig)
      if (type === 'deposit') channel.balance += BigInt(deposit?.amount ?? 0)
      if (type === 'refund') {
        channel.balance -= BigInt(amount ?? channel.balance - channel.claimed)
        channel.refunds++
      }
      return {
        ...done,
        payer: channelConfig.payer,
        amount: deposit?.amount ?? amount ?? '0',
        extra: { channelState: stateOf(channelConfig) },
      }
    },
  }
  return { facilitator, calls, channels }
}

/** The stock server over a database that other processes share. */
function startServer(
  file: string,
  { facilitator }: ReturnType<typeof stubFacilitator>,
) {
  const store = sqliteStore({ file })
  const storage = channelStorage(store, { seal })
  const scheme = new ServerScheme(receiver, {
    storage,
    receiverAuthorizerSigner: authorizer,
  })
  const routes = {
    'GET /item': {
      accepts: {
        scheme: 'batch-settlement',
        network,
        payTo: receiver,
        maxTimeoutSeconds: 300,
        price: {
          amount: '10000',
          asset: token,
          extra: { name: 'USD Coin', version: '2' },
        },
      },
    },
  } as const
  const resources = new x402ResourceServer(facilitator).register(
    network,
    scheme,
  )
  const served: string[] = []
  const app = new Hono()
  app.use(paymentMiddleware(routes, resources))
  app.get('/item', (context) => {
    served.push('item')
    return context.json({ item: served.length })
  })
  const manager = new BatchSettlementChannelManager({
    scheme,
    facilitator,
    receiver,
    token,
    network,
  })
  const send: typeof fetch = async (input, init) =>
    app.request(new Request(input, init))
  return { store, storage, manager, served, send }
}

const payer = privateKeyToAccount(generatePrivateKey())

function payingFetch(send: typeof fetch, salt?: Hex) {
  const scheme = new ClientScheme(payer, salt ? { salt } : {})
  const client = new x402Client()
    .register(network, scheme)
    .setSpendControls(false)
  return { scheme, pay: wrapFetchWithPayment(send, client) }
}

test('the stock server deposits, charges vouchers, claims and refunds over our storage, through a restart', async () => {
  const file = join(folder, 'one.db')
  const stub = stubFacilitator()
  const { facilitator: _, calls, channels } = stub
  let server = startServer(file, stub)
  const url = 'https://shop.example/item'
  const { pay, scheme } = payingFetch((input, init) => server.send(input, init))
  for (let times = 0; times < 3; times++)
    expect((await pay(url)).status).toBe(200)
  expect(calls).toEqual(['deposit'])
  const [channel] = await server.storage.list()
  expect(channel).toMatchObject({
    chargedCumulativeAmount: '30000',
    signedMaxClaimable: '30000',
    balance: '100000',
    totalClaimed: '0',
  })
  expect(channel?.pendingRequest).toBeUndefined()
  const kept = await server.store.read((it) => it.findValues('x402Channel:'))
  expect(kept).toHaveLength(1)
  expect(JSON.stringify(kept)).not.toContain(channel?.signature)
  await server.store.close()

  server = startServer(file, stub)
  expect((await pay(url)).status).toBe(200)
  expect(await server.manager.claim()).toMatchObject([{ vouchers: 1 }])
  expect(await server.manager.claim()).toEqual([])
  expect([...channels.values()]).toEqual([
    { balance: 100_000n, claimed: 40_000n, refunds: 0 },
  ])
  expect(await server.storage.list()).toMatchObject([
    { chargedCumulativeAmount: '40000', totalClaimed: '40000' },
  ])
  expect((await pay(url)).status).toBe(200)
  const refund = await scheme.refund(url, { fetch: server.send })
  expect(refund).toMatchObject({ success: true })
  expect(calls).toEqual(['deposit', 'claim', 'refund'])
  expect(await server.storage.list()).toEqual([])
  expect([...channels.values()]).toEqual([
    { balance: 50_000n, claimed: 50_000n, refunds: 1 },
  ])
  await server.store.close()
})

test('two stock servers over one database charge each voucher once', async () => {
  const file = join(folder, 'two.db')
  const stub = stubFacilitator()
  const servers = [startServer(file, stub), startServer(file, stub)]
  let turn = 0
  const url = 'https://shop.example/item'
  const { pay } = payingFetch((input, init) => {
    const server = servers[turn++ % 2]
    if (!server) throw new Error('no server')
    return server.send(input, init)
  })
  let paid = 0
  for (let times = 0; times < 6; times++)
    if ((await pay(url)).status === 200) paid++
  expect(paid).toBe(6)
  // Several at once: the stock server serves one or two of them.
  const more = await Promise.all([1, 2, 3, 4, 5].map(() => pay(url)))
  paid += more.filter(({ status }) => status === 200).length
  const served = servers.reduce((sum, server) => sum + server.served.length, 0)
  expect(served).toBeGreaterThanOrEqual(paid)
  const [channel] = (await servers[0]?.storage.list()) ?? []
  expect(channel?.chargedCumulativeAmount).toBe(String(paid * 10_000))
  for (const { store } of servers) await store.close()
})

test('a request that a killed server was serving blocks its channel until its time is over', async () => {
  const stub = stubFacilitator()
  const server = startServer(join(folder, 'three.db'), stub)
  const { pay } = payingFetch(server.send)
  const url = 'https://shop.example/item'
  expect((await pay(url)).status).toBe(200)
  const [{ channelId = '' } = {}] = await server.storage.list()
  const reserve = (expiresAt: number) =>
    server.storage.updateChannel(
      channelId,
      (current) =>
        current && {
          ...current,
          pendingRequest: {
            pendingId: 'killed',
            signedMaxClaimable: current.signedMaxClaimable,
            expiresAt,
          },
        },
    )
  await reserve(Date.now() + 60_000)
  expect((await pay(url)).status).toBe(402)
  await reserve(Date.now() - 1)
  expect((await pay(url)).status).toBe(200)
  await server.store.close()
})

type Guide = {
  serveItem(shop: object): { request(request: Request): Promise<Response> }
}

/** The program of the guide, as it is. */
async function loadGuide(): Promise<Guide> {
  const page = 'docs/x402.md'
  const code = readExamples(page, readFileSync(page, 'utf8'))
    .map((example) => example.code)
    .find((text) => text.includes('channelStorage('))
  const file = join(folder, 'guide.ts')
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(file, code ?? '')
  return import(file)
}

test('the program of the guide sells to the stock client', async () => {
  const { serveItem } = await loadGuide()
  const stub = stubFacilitator()
  const store = sqliteStore({ file: join(folder, 'guide.db') })
  const app = serveItem({ receiver, store, seal, ...stub })
  const { pay } = payingFetch(async (input, init) =>
    app.request(new Request(input, init)),
  )
  for (let times = 0; times < 2; times++) {
    const answer = await pay('https://shop.example/item')
    expect(await answer.json()).toEqual({ item: 'tea' })
  }
  const storage = channelStorage(store, { seal })
  expect(await storage.list()).toMatchObject([
    { chargedCumulativeAmount: '20000', balance: '100000' },
  ])
  await store.close()
})
