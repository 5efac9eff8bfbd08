import type { SignedPayment } from 'countersign'
import type { TrustedDelegate } from 'countersign/batches'
import type { DevChain } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import { type Account, type Address, type Client, parseAbiItem } from 'viem'
import { getLogs, getTransactionCount } from 'viem/actions'
import { onTestFinished } from 'vitest'
import type { Observation } from '../../../src/core/observeFailure.js'
import type { OrdersContext } from '../../../src/orders/context/types.js'
import { createContext } from '../../../src/orders/createContext.js'
import { draftedOrder } from '../../../src/orders/model/draftedRows.js'
import { sealContextOf } from '../../../src/orders/model/paymentOf.js'
import type {
  CaptureResult,
  OrdersPolicy,
} from '../../../src/orders/model/types.js'
import {
  createSubmitterEngine,
  type SubmitterEngine,
} from '../../../src/orders/submitter/submitterEngine.js'
import { captureOrder } from '../../../src/orders/verbs/captureOrder.js'
import { memoryStore } from '../../../src/store/memoryStore.js'
import type {
  AttemptRecord,
  OrderRecord,
  PaymentStore,
  Sealer,
} from '../../../src/store/types.js'
import { draft, fakeNode, randomHash } from './desk.js'
import { checkEvents } from './eventContract.js'

export type Shop = {
  chain: DevChain
  context: OrdersContext
  engine: SubmitterEngine
  seen: Observation[]
  account: Account
}

export type ShopParameters = {
  account: Account
  store?: PaymentStore | undefined
  policy?: OrdersPolicy | undefined
  /** Stands between wallet and node. */
  answer?: Parameters<typeof fakeNode>[1]
  /** Reads the chain. Default: at its node, in batches. */
  client?: Client | undefined
  seal?: Sealer | 'none' | undefined
  /** Tokens beside the chain's own. */
  tokens?: readonly Address[] | undefined
  delegates?: readonly TrustedDelegate[] | undefined
}

/** One instance over a store, with its engine; ended with the test. */
export function openShop(chain: DevChain, parameters: ShopParameters): Shop {
  const { account, store = memoryStore(), policy, answer } = parameters
  const seen: Observation[] = []
  const {
    client = createReadClient({ url: chain.urls.http, chain: chain.chain }),
  } = parameters
  const context = createContext({
    store: checkEvents(store),
    seal: parameters.seal ?? 'none',
    tokens: [chain.token, ...(parameters.tokens ?? [])].map((token) => ({
      client,
      token,
    })),
    wallets: [fakeNode(chain, answer, account).client],
    delegates: parameters.delegates,
    policy: { pollingInterval: 40, ...policy },
    observe: (one) => {
      seen.push(one)
    },
  })
  const engine = createSubmitterEngine(context)
  onTestFinished(() => engine.stop())
  return { chain, context, engine, seen, account }
}

/** Milliseconds that no capture should need, however slow the machine is. */
const plenty = 300_000

export function capture(
  { context, engine }: Shop,
  orderId: string | undefined,
  timeout = plenty,
): Promise<CaptureResult> {
  return captureOrder(context, engine, { orderId: orderId ?? '', timeout })
}

export async function captureAll(
  shop: Shop,
  ids: readonly string[],
  timeout?: number,
): Promise<string[]> {
  const results = await Promise.all(ids.map((id) => capture(shop, id, timeout)))
  return results.map(({ status }) => status)
}

/**
 * Mines a block now and then: anvil, told to mine each transaction, may forget
 * one of a crowd until the next block.
 */
export function mineLeftovers({ clients: { test } }: DevChain): () => void {
  const mine = async () => {
    if (await test.getAutomine()) await test.mine({ blocks: 1 })
  }
  // The chain may be gone already when its last test is over.
  const timer = setInterval(() => mine().catch(() => undefined), 1_500)
  return () => clearInterval(timer)
}

/** What is on record about orders. */
export function rowsOf({ context }: Shop, orderIds: readonly string[]) {
  return context.store.read(async (tables) => ({
    orders: await tables.orders.find({ ids: orderIds }),
    attempts: await tables.attempts.find({ orderIds }),
    transactions: await tables.transactions.find({ orderIds }),
    proofs: await tables.proofs.find({ orderIds }),
    events: await tables.events.find({ orderIds }),
  }))
}

/** How often each of these orders was paid on chain. */
export async function timesPaid(
  shop: Shop,
  orderIds: readonly string[],
): Promise<number[]> {
  const { attempts } = await rowsOf(shop, orderIds)
  const logs = await getLogs(shop.chain.clients.public, {
    address: shop.chain.token,
    event: authorizationUsed,
    fromBlock: 0n,
  })
  return attempts.map(
    ({ nonce }) => logs.filter(({ args }) => args.nonce === nonce).length,
  )
}

const authorizationUsed = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
)

/** Account nonces used beyond `latest` or lost below what is used. */
export async function openNonces({ chain, account }: Shop): Promise<number> {
  const { address } = account
  const [latest, pending] = await Promise.all([
    getTransactionCount(chain.clients.public, { address, blockTag: 'latest' }),
    getTransactionCount(chain.clients.public, { address, blockTag: 'pending' }),
  ])
  return pending - latest
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
    ...draftedOrder,
    id,
    chainId: domain.chainId,
    token: chain.token,
    recipient: message.to,
    submitter: wallet.submitter.account,
    state: 'stored',
    kind: 'eip3009',
    total: 'amount',
    value: message.value,
    decimals: 6,
    primaryType,
    tokenName: domain.name,
    tokenVersion: domain.version,
    payer: message.from,
    buyerTokenHash: randomHash(),
    metadata: {},
    createdAt: message.validAfter,
    deadline: message.validBefore,
    lookDue: message.validBefore,
    ...changes,
  }
  const attempt: Omit<AttemptRecord, 'version'> = {
    chainId: domain.chainId,
    token: chain.token,
    orderId: id,
    number: 1,
    nonce: message.nonce,
    payer: message.from,
    validAfter: message.validAfter,
    validBefore: message.validBefore,
    signedAfter: message.validAfter,
    signedBefore: message.validBefore,
    signatureHash: randomHash(),
    spendableUntil: message.validBefore,
    value: message.value,
    terms: undefined,
    spendable: true,
    cancellation: undefined,
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

/** Orders of as many payments to the account, paid by the chain's payer. */
export async function storeOrders(
  shop: Shop,
  count: number,
  changes: Parameters<typeof draft>[1] = {},
): Promise<string[]> {
  const to = shop.context.wallets[0]?.submitter.account
  if (!to) throw new Error('There is no wallet.')
  const payments = await Promise.all(
    Array.from({ length: count }, () =>
      draft(shop.chain, { to, amount: '1', ...changes }),
    ),
  )
  return Promise.all(payments.map((payment) => storeOrder(shop, payment)))
}
