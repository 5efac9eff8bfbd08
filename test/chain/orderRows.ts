import type { SignedPayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import {
  type Account,
  type Client,
  createWalletClient,
  http,
  type Transport,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createContext } from '../../src/orders/createContext.js'
import { driveLanes, type LaneEngine } from '../../src/orders/driveLanes.js'
import { sealContextOf } from '../../src/orders/paymentOf.js'
import type {
  Observation,
  OrdersContext,
  OrdersPolicy,
} from '../../src/orders/types.js'
import { memoryStore } from '../../src/store/memoryStore.js'
import type {
  AttemptRecord,
  OrderRecord,
  PaymentStore,
  Sealer,
} from '../../src/store/types.js'
import { draft, fundedAccount, randomHash } from './desk.js'

export type Shop = {
  chain: DevChain
  context: OrdersContext
  engine: LaneEngine
  seen: Observation[]
}

/** One instance over a store, with its engine; ended by the test. */
export function openShop(
  chain: DevChain,
  parameters: {
    account: Account
    store?: PaymentStore | undefined
    policy?: OrdersPolicy | undefined
    /** Of the wallet. @default the chain's */
    transport?: Transport | undefined
    reader?: Client | undefined
    seal?: Sealer | 'none' | undefined
  },
): Shop {
  const { account, store = memoryStore(), policy, transport } = parameters
  const { reader, seal = 'none' } = parameters
  const seen: Observation[] = []
  const context = createContext({
    ...{ store, seal, volatile: true, observe: (one) => seen.push(one) },
    tokens: [
      {
        client:
          reader ??
          createReadClient({ url: chain.urls.http, chain: chain.chain }),
        token: chain.token,
      },
    ],
    wallets: [
      createWalletClient({
        ...{ account, chain: chain.chain },
        transport:
          transport ?? http(chain.urls.http, { batch: { batchSize: 100 } }),
      }),
    ],
    policy: { pollingInterval: 100, ...policy },
  })
  return { chain, context, engine: driveLanes(context), seen }
}

/** Puts a signed payment on record as an order that waits to be captured. */
export async function storeOrder(
  { context, chain }: Pick<Shop, 'context' | 'chain'>,
  payment: SignedPayment,
  changes: Partial<OrderRecord> = {},
): Promise<string> {
  const id = changes.id ?? `order-${randomHash().slice(2, 14)}`
  const { message, domain, primaryType } = payment
  const wallet = context.wallets[0]
  if (!wallet) throw new Error('There is no wallet.')
  const order: Omit<OrderRecord, 'version' | 'position'> = {
    id,
    ...{ chainId: domain.chainId, token: chain.token, recipient: message.to },
    ...{ sequence: 0, lane: wallet.lane.account, state: 'stored', attempt: 1 },
    ...{ value: message.value, decimals: 6, primaryType },
    ...{ tokenName: domain.name, tokenVersion: domain.version },
    ...{ payer: message.from, buyerTokenHash: randomHash(), metadata: {} },
    ...{ createdAt: message.validAfter, deadline: message.validBefore },
    ...{ sendDue: undefined, lookDue: message.validBefore },
    ...{ wish: undefined, reason: undefined, tries: 0, held: false },
    ...{ unexpected: false, overpaid: false, fulfilled: undefined },
    ...{ grade: undefined, settledHash: undefined, settledBlock: undefined },
    ...changes,
  }
  const attempt: Omit<AttemptRecord, 'version'> = {
    ...{ chainId: domain.chainId, token: chain.token, orderId: id, number: 1 },
    ...{ nonce: message.nonce, payer: message.from },
    ...{ validAfter: message.validAfter, validBefore: message.validBefore },
    ...{ signedAfter: message.validAfter, signedBefore: message.validBefore },
    ...{ signatureHash: randomHash(), spendableUntil: message.validBefore },
    ...{ value: message.value, open: true, cancellation: undefined },
    signature: undefined,
  }
  const signature = await context.sealer.seal(
    payment.signature,
    sealContextOf(
      'payment',
      { ...order, version: 1, position: 1n },
      { ...attempt, version: 1 },
    ),
  )
  await context.store.write(async (tables) => {
    await tables.orders.insert([order])
    await tables.attempts.insert([{ ...attempt, signature }])
  })
  return id
}

export const lower = (address: string) => address.toLowerCase() as `0x${string}`

/** A merchant's account of its own, with ether. */
export const newMerchant = (chain: DevChain): Promise<PrivateKeyAccount> =>
  fundedAccount(chain)

/** Orders of as many payments to the account, paid by the chain's payer. */
export async function storeOrders(
  shop: Shop,
  count: number,
  changes: Parameters<typeof draft>[1] = {},
): Promise<string[]> {
  const to = shop.context.wallets[0]?.lane.account
  if (!to) throw new Error('There is no wallet.')
  const payments = await Promise.all(
    Array.from({ length: count }, () =>
      draft(shop.chain, { to, amount: '1', ...changes }),
    ),
  )
  return Promise.all(payments.map((payment) => storeOrder(shop, payment)))
}
