import type { SignedPayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import {
  type AnyDraftedPayment,
  type CreateOrdersParameters,
  createOrders,
  type Orders,
} from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import {
  type AttemptRecord,
  memoryStore,
  type OrderRecord,
  type PaymentStore,
} from 'countersign/store'
import {
  type Address,
  type Client,
  createClient,
  type Hex,
  http,
  type PrivateKeyAccount,
} from 'viem'
import { typedDataTypes } from '../../../src/core/typedDataTypes.js'
import { fundedAccount } from './desk.js'
import { checkEvents } from './eventContract.js'

export type Shop = { orders: Orders; store: PaymentStore; seller: Address }

type Changes = Omit<Partial<CreateOrdersParameters>, 'tokens' | 'store'> & {
  store?: PaymentStore | undefined
  /** Further tokens, some read elsewhere; the chain's own is always taken. */
  tokens?:
    | readonly (Address | CreateOrdersParameters['tokens'][number])[]
    | undefined
  /** Who sells, unless `wallets` are given. Default: someone new, with ether. */
  sellers?: readonly PrivateKeyAccount[] | undefined
  /** Where the chain is read. Default: at its node. */
  url?: string | undefined
  /** How the chain is read. Default: in batches, at `url`. */
  client?: Client | undefined
}

/** A shop with a memory of its own that sells to anyone on the chain. */
export async function openShop(
  chain: DevChain,
  changes: Changes = {},
): Promise<Shop> {
  const { tokens = [], store = memoryStore(), ...rest } = changes
  const { url = chain.urls.http, ...given } = rest
  const {
    sellers = [await fundedAccount(chain)],
    client = createReadClient({ chain: chain.chain, url }),
    ...parameters
  } = given
  const orders = createOrders({
    store: checkEvents(store),
    seal: 'none',
    tokens: [chain.token, ...tokens].map((token) =>
      typeof token === 'string' ? { client, token } : token,
    ),
    wallets: sellers.map((account) =>
      createClient({ account, chain: chain.chain, transport: http() }),
    ),
    ...parameters,
  })
  const seller = sellers[0]?.address.toLowerCase() as Address
  return { orders, store, seller }
}

/** What a buyer's browser makes of a drafted payment. */
export async function pay(
  payer: PrivateKeyAccount,
  payment: AnyDraftedPayment,
  changes: Partial<SignedPayment['message']> = {},
): Promise<SignedPayment> {
  const { domain, primaryType } = payment
  if (primaryType === 'Permit') throw new Error('not a payment of EIP-3009')
  const from = payer.address.toLowerCase() as Address
  const message = { ...payment.message, from, ...changes }
  const signature: Hex = await payer.signTypedData({
    domain,
    types: typedDataTypes,
    primaryType,
    message,
  } as unknown as Parameters<typeof payer.signTypedData>[0])
  return { primaryType, domain, message, signature }
}

/** An order paid by someone who has just enough. */
export async function storedOrder(
  chain: DevChain,
  { orders }: Shop,
  draft: Partial<Parameters<Orders['draft']>[0]> = {},
): Promise<{ id: string; buyer: PrivateKeyAccount; signed: SignedPayment }> {
  const buyer = await fundedAccount(chain, 12_500_000n)
  const drafted = await orders.draft({ amount: '12.50', ...draft })
  const signed = await pay(buyer, drafted.payment)
  const { id } = drafted.order
  const verdict = await orders.accept({ orderId: id, payment: signed })
  if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
  return { id, buyer, signed }
}

/** Changes an order behind the shop's back. */
export async function setOrder(
  { store }: Shop,
  id: string,
  fields: Partial<OrderRecord>,
): Promise<void> {
  await store.write(async ({ orders }) => {
    const [order] = await orders.find({ ids: [id] })
    if (order) await orders.update([{ ...order, ...fields }])
  })
}

/** The rows of an order as they are kept. */
export async function rowsOf(
  { store }: Shop,
  id: string,
): Promise<{ order: OrderRecord; attempts: AttemptRecord[] }> {
  return store.read(async ({ orders, attempts }) => {
    const [order] = await orders.find({ ids: [id] })
    if (!order) throw new Error(`no order ${id}`)
    return { order, attempts: await attempts.find({ orderIds: [id] }) }
  })
}

/** The types of an order's events, the first first. */
export async function eventsOf(
  { orders }: Shop,
  id: string,
): Promise<string[]> {
  const { events } = await orders.events({ limit: 1_000 })
  return events.flatMap(({ orderId, type }) => (orderId === id ? [type] : []))
}

/** Whether a value shows a signature, or one half of it. */
export function shows(
  value: unknown,
  { signature }: { signature: Hex },
): boolean {
  const told =
    value instanceof Error ? { ...value, text: String(value) } : value
  const text = JSON.stringify(told, (_, member) =>
    typeof member === 'bigint' ? String(member) : member,
  ).toLowerCase()
  const halves = [signature.slice(2, 66), signature.slice(66, 130)]
  return halves.some((half) => text.includes(half))
}
