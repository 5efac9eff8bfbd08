import { type FacilitatorClient, x402ResourceServer } from '@x402/core/server'
import type { SettleResponse, VerifyResponse } from '@x402/core/types'
import {
  BatchSettlementChannelManager,
  BatchSettlementEvmScheme,
} from '@x402/evm/batch-settlement/server'
import { paymentMiddleware } from '@x402/hono'
import {
  type ChannelConfig,
  channels,
  createChannels,
} from 'countersign/channels'
import type { CreateOrdersParameters } from 'countersign/orders'
import { memoryStore, type PaymentStore } from 'countersign/store'
import {
  createFacilitator,
  type Facilitator,
  type FacilitatorCaller,
  type FacilitatorParameters,
} from 'countersign/x402'
import { Hono } from 'hono'
import {
  type Address,
  getAddress,
  type Hex,
  type PrivateKeyAccount,
} from 'viem'
import { afterAll } from 'vitest'
import { encodeHeader } from '../../../src/x402/wire/headers.js'
import { type Signing, signChannel } from './channelPayer.js'
import { openShop, type Shop } from './shop.js'
import { facilitatorAt, listenFetch } from './stockServers.js'
import { chain, serveApp } from './x402Desk.js'

export const network = 'eip155:31337'

/** What a request costs, in token units. */
export const price = 10_000n

/** A facilitator of channels, served on loopback. */
export type ChannelFacilitatorShop = Shop & {
  facilitator: Facilitator
  url: string
  /** Asks as a caller. */
  ask(
    route: 'verify' | 'settle',
    sent: StockCall,
    key?: string,
  ): Promise<VerifyResponse & SettleResponse>
}

/** What a stock server sends to its facilitator. */
export type StockCall = {
  paymentPayload: Record<string, unknown>
  paymentRequirements: Record<string, unknown>
}

export async function openChannelFacilitator({
  callers = { one: { name: 'one' }, two: { name: 'two' } },
  store = memoryStore(),
  sellers,
  seal = 'none',
  ...given
}: Partial<FacilitatorParameters> & {
  callers?: Readonly<Record<string, FacilitatorCaller>>
  store?: PaymentStore
  sellers?: readonly PrivateKeyAccount[]
  seal?: CreateOrdersParameters['seal']
} = {}): Promise<ChannelFacilitatorShop> {
  const shop = await openShop(chain, {
    store,
    sellers,
    seal,
    policy: { pollingInterval: 50, safetyMargin: 5n },
    kinds: [channels()],
  })
  const { orders } = shop
  const facilitator = createFacilitator({
    orders,
    channels: createChannels({ orders }),
    authorize: ({ headers }) => callers[headers.get('authorization') ?? ''],
    ...given,
  })
  const { url, close } = await listenFetch(facilitator.handle)
  afterAll(close)
  const ask: ChannelFacilitatorShop['ask'] = async (route, sent, key = 'one') =>
    (
      await fetch(`${url}/${route}`, {
        method: 'POST',
        headers: { authorization: key, 'content-type': 'application/json' },
        body: JSON.stringify({ x402Version: 2, ...sent }),
      })
    ).json()
  return { ...shop, facilitator, url, ask }
}

/** A stock server in front of a facilitator, and what it sent to it. */
export async function openStockServer(
  facilitatorUrl: string,
  {
    receiver,
    key = 'one',
    authorizer,
  }: {
    receiver: Address
    key?: string
    /** The server's own authorizer. Default: that of the facilitator. */
    authorizer?: PrivateKeyAccount
  },
) {
  const real = facilitatorAt(facilitatorUrl, key)
  const calls: (StockCall & { route: 'verify' | 'settle' })[] = []
  const note = (
    route: 'verify' | 'settle',
    paymentPayload: unknown,
    paymentRequirements: unknown,
  ) =>
    calls.push(
      JSON.parse(
        JSON.stringify({ route, paymentPayload, paymentRequirements }),
      ),
    )
  const facilitator: FacilitatorClient = {
    getSupported: () => real.getSupported(),
    verify: (payload, requirements) => {
      note('verify', payload, requirements)
      return real.verify(payload, requirements)
    },
    settle: (payload, requirements) => {
      note('settle', payload, requirements)
      return real.settle(payload, requirements)
    },
  }
  const scheme = new BatchSettlementEvmScheme(
    getAddress(receiver),
    authorizer ? { receiverAuthorizerSigner: authorizer } : {},
  )
  const resources = new x402ResourceServer(facilitator).register(
    network,
    scheme,
  )
  const served: string[] = []
  const app = new Hono()
  const accepts = {
    scheme: 'batch-settlement',
    network,
    payTo: getAddress(receiver),
    maxTimeoutSeconds: 300,
    price: {
      amount: String(price),
      asset: getAddress(chain.token),
      extra: { name: 'USD Coin', version: '2' },
    },
  } as const
  app.use(paymentMiddleware({ 'GET /item': { accepts } }, resources))
  app.get('/item', (context) => {
    served.push('item')
    return context.json({ item: served.length })
  })
  const manager = new BatchSettlementChannelManager({
    scheme,
    facilitator,
    receiver: getAddress(receiver),
    token: getAddress(chain.token),
    network,
  })
  const url = `${await serveApp((request) => app.fetch(request))}/item`
  const storage = scheme.getStorage()
  return { url, scheme, storage, manager, served, calls }
}

/** The account that signs for the channels of a caller. */
export async function authorizerOf(
  { url }: Pick<ChannelFacilitatorShop, 'url'>,
  key = 'one',
): Promise<Address> {
  const { kinds } = await facilitatorAt(url, key).getSupported()
  const kind = kinds.find(({ scheme }) => scheme === 'batch-settlement')
  return kind?.extra?.receiverAuthorizer as Address
}

/** A payload that somebody signed for a channel of a caller. */
export async function signCall(
  account: PrivateKeyAccount,
  { receiver, authorizer }: { receiver: Address; authorizer: Address },
  signing: Signing,
): Promise<StockCall & { id: Hex; config: ChannelConfig }> {
  const paymentRequirements = {
    ...requirementsOf(receiver),
    amount: String(price),
    maxTimeoutSeconds: 300,
    extra: {
      name: 'USD Coin',
      version: '2',
      receiverAuthorizer: getAddress(authorizer),
      withdrawDelay: 900,
    },
  }
  const required = encodeHeader({ accepts: [paymentRequirements] })
  const header = await signChannel(
    account,
    new Response(null, { headers: { 'PAYMENT-REQUIRED': required } }),
    signing,
  )
  const paymentPayload = JSON.parse(Buffer.from(header, 'base64').toString())
  const { channelConfig: config, voucher } = paymentPayload.payload
  return { paymentPayload, paymentRequirements, id: voucher.channelId, config }
}

/** What a manager asks for. */
export function managerCall(
  receiver: Address,
  payload: Record<string, unknown>,
): StockCall {
  const paymentRequirements = requirementsOf(receiver)
  const accepted = paymentRequirements
  const paymentPayload = { x402Version: 2, accepted, payload }
  return { paymentPayload, paymentRequirements }
}

const requirementsOf = (receiver: Address) => ({
  scheme: 'batch-settlement',
  network,
  asset: getAddress(chain.token),
  amount: '0',
  payTo: getAddress(receiver),
  maxTimeoutSeconds: 0,
  extra: {},
})

/** The voucher of a call as a row of a claim. */
export function rowOf(
  { paymentPayload }: StockCall,
  totalClaimed: bigint,
  changes: Record<string, unknown> = {},
): Record<string, unknown> {
  const { channelConfig, voucher } = Object(paymentPayload.payload)
  const { maxClaimableAmount, signature } = voucher
  return {
    voucher: { channel: channelConfig, maxClaimableAmount },
    signature,
    totalClaimed: String(totalClaimed),
    ...changes,
  }
}

/** What a server makes of a client's refund. */
export function refundCall(
  receiver: Address,
  call: StockCall,
  given: Record<string, unknown>,
): StockCall {
  const { channelConfig, voucher } = Object(call.paymentPayload.payload)
  return managerCall(receiver, {
    type: 'refund',
    channelConfig,
    voucher,
    refundNonce: '0',
    claims: [],
    ...given,
  })
}
