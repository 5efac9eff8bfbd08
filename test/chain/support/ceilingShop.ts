import {
  type CheckoutPayment,
  checkout,
  checkoutDeployment,
  permitCheckout,
} from 'countersign/checkout'
import { type DevChain, startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import {
  type AcceptVerdict,
  type CreateOrdersParameters,
  createOrders,
} from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { type Address, createClient, http, type PrivateKeyAccount } from 'viem'
import { sendTransaction, waitForTransactionReceipt } from 'viem/actions'
import { fundedAccount } from './desk.js'
import { checkEvents } from './eventContract.js'
import { sign } from './signing.js'

/** A chain with Circle's own USDC and the checkout contract. */
export async function startCeilingChain(
  parameters: Parameters<typeof startDevChain>[0] = {},
): Promise<DevChain> {
  const chain = await startDevChain({
    blockTime: 0,
    token: 'usdc',
    ...parameters,
  })
  const { relayer, public: client } = chain.clients
  const hash = await sendTransaction(relayer, checkoutDeployment())
  await waitForTransactionReceipt(client, { hash })
  return chain
}

export type CeilingShop = {
  orders: Orders
  store: PaymentStore
  seller: Address
  operator: Address
  parameters: CreateOrdersParameters
}

type Changes = Partial<CreateOrdersParameters> & {
  /** The account that is paid, if it has no wallet. */
  till?: Address | undefined
}

/** A shop of a new merchant that takes ceilings. */
export async function openCeilingShop(
  chain: DevChain,
  { till, ...changes }: Changes = {},
): Promise<CeilingShop> {
  const account = await fundedAccount(chain)
  const url = chain.urls.http
  const client = createReadClient({ chain: chain.chain, url })
  const wallet = createClient({
    account,
    chain: chain.chain,
    transport: http(),
  })
  const store = changes.store ?? memoryStore()
  const parameters = {
    seal: 'none',
    tokens: [{ client, token: chain.token }],
    wallets: [wallet],
    recipients: till ? [till] : [],
    kinds: [checkout, permitCheckout],
    ...changes,
    policy: { pollingInterval: 20, ...changes.policy },
    store: checkEvents(store),
  } as const
  const operator = account.address.toLowerCase() as Address
  return {
    orders: createOrders(parameters),
    store,
    seller: till ?? operator,
    operator,
    parameters,
  }
}

export type Drafted = { id: string; payer: PrivateKeyAccount }

/** A drafted ceiling of 50 tokens, with the payment to sign. */
export async function draftCeiling(
  chain: DevChain,
  { orders, seller }: CeilingShop,
  fields: Partial<Parameters<Orders['draft']>[0]> = {},
): Promise<Drafted & { payment: CheckoutPayment }> {
  const payer = await fundedAccount(chain, 100_000_000n)
  const { order, payment } = await orders.draft({
    atMost: '50.00',
    payer: payer.address,
    recipient: seller,
    ...fields,
  })
  return { id: order.id, payer, payment: parseCheckout(payment) }
}

/** Reads a checkout payment as the page of the shop does. */
export function parseCheckout(payment: unknown): CheckoutPayment {
  const parsed = checkout.parse(payment)
  if (!isCheckout(parsed)) throw new Error('not a checkout payment')
  return parsed
}

function isCheckout(payment: object): payment is CheckoutPayment {
  return 'checkout' in payment
}

/** Signs a ceiling and hands it to the shop. */
export async function acceptCeiling(
  { orders }: CeilingShop,
  { id, payer, payment }: Drafted & { payment: CheckoutPayment },
): Promise<AcceptVerdict> {
  const signature = await sign(payer, payment)
  return orders.accept({ orderId: id, payment: { ...payment, signature } })
}

/** An order with a ceiling that is signed and stored. */
export async function storedCeiling(
  chain: DevChain,
  shop: CeilingShop,
  fields: Partial<Parameters<Orders['draft']>[0]> = {},
): Promise<Drafted & { payment: CheckoutPayment }> {
  const drafted = await draftCeiling(chain, shop, fields)
  const verdict = await acceptCeiling(shop, drafted)
  if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
  return drafted
}
