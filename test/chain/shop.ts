import type { SignedPayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import {
  type CreateOrdersParameters,
  createOrders,
  type DraftedPayment,
  memoryStore,
  type Orders,
  type PaymentStore,
} from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import {
  type Address,
  createClient,
  type Hex,
  http,
  type PrivateKeyAccount,
} from 'viem'
import { typedDataTypes } from '../../src/base/typedDataTypes.js'
import { fundedAccount } from './desk.js'

export type Shop = { orders: Orders; store: PaymentStore; seller: Address }

type Changes = Omit<
  Partial<CreateOrdersParameters>,
  'tokens' | 'wallets' | 'store'
> & {
  store?: PaymentStore | undefined
  /** Further tokens; the chain's own is always taken. */
  tokens?: readonly Address[] | undefined
  /** Who sells. Default: someone new, with ether. */
  sellers?: readonly PrivateKeyAccount[] | undefined
  /** Where the chain is read. Default: at its node. */
  url?: string | undefined
}

/** A shop with a memory of its own that sells to anyone on the chain. */
export async function openShop(
  chain: DevChain,
  changes: Changes = {},
): Promise<Shop> {
  const { tokens = [], store = memoryStore(), ...rest } = changes
  const { url = chain.urls.http, ...given } = rest
  const { sellers = [await fundedAccount(chain)], ...parameters } = given
  const client = createReadClient({ chain: chain.chain, url })
  const orders = createOrders({
    store,
    volatile: true,
    seal: 'none',
    tokens: [chain.token, ...tokens].map((token) => ({ client, token })),
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
  payment: DraftedPayment,
  changes: Partial<SignedPayment['message']> = {},
): Promise<SignedPayment> {
  const { domain, primaryType } = payment
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
