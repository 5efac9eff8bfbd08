import type { SettleResponse, VerifyResponse } from '@x402/core/types'
import type { DevChain } from 'countersign/devchain'
import type { CreateOrdersParameters, Orders } from 'countersign/orders'
import { memoryStore, type PaymentStore } from 'countersign/store'
import {
  createFacilitator,
  type Facilitator,
  type FacilitatorCaller,
  type FacilitatorParameters,
} from 'countersign/x402'
import { type Address, type PrivateKeyAccount, parseEventLogs } from 'viem'
import { fundedAccount } from './desk.js'
import { openShop } from './shop.js'
import {
  price,
  type Sent,
  type SentChanges,
  sign402,
} from './stockFacilitator.js'

/** A facilitator over orders of one seller, in this process. */
export type FacilitatorShop = {
  orders: Orders
  store: PaymentStore
  seller: Address
  facilitator: Facilitator
  /** Asks over the fetch standard, as the caller of a key. */
  ask(
    route: 'verify' | 'settle',
    sent: unknown,
    key?: string,
    signal?: AbortSignal,
  ): Promise<Response>
  verify(sent: Sent, key?: string): Promise<VerifyResponse>
  settle(sent: Sent, key?: string): Promise<SettleResponse>
  /** A payment of someone new, who has just enough. */
  pay(changes?: SentChanges): Promise<Sent & { payer: PrivateKeyAccount }>
}

type Changes = {
  facilitator?: Partial<FacilitatorParameters>
  orders?: Partial<Omit<CreateOrdersParameters, 'tokens' | 'wallets'>> & {
    sellers?: readonly PrivateKeyAccount[]
    url?: string
  }
  /** Who may ask, by key. */
  callers?: Readonly<Record<string, FacilitatorCaller>>
}

export async function openFacilitator(
  chain: DevChain,
  { facilitator: changes, orders: given, callers }: Changes = {},
): Promise<FacilitatorShop> {
  const known: Readonly<Record<string, FacilitatorCaller>> = callers ?? {
    one: { name: 'one' },
    two: { name: 'two' },
  }
  const { orders, store, seller } = await openShop(chain, {
    store: memoryStore({ volatile: true }),
    ...given,
    policy: { pollingInterval: 50, safetyMargin: 5n, ...given?.policy },
  })
  const facilitator = createFacilitator({
    orders,
    authorize: ({ headers }) => known[headers.get('authorization') ?? ''],
    ...changes,
  })
  const ask: FacilitatorShop['ask'] = (route, sent, key = 'one', signal) =>
    facilitator.handle(
      new Request(`http://facilitator.example/${route}`, {
        method: 'POST',
        headers: { authorization: key, 'content-type': 'application/json' },
        body: JSON.stringify(sent),
        signal: signal ?? null,
      }),
    )
  return {
    orders,
    store,
    seller,
    facilitator,
    ask,
    verify: async (sent, key) =>
      (await ask('verify', bodyOf(sent), key)).json(),
    settle: async (sent, key) =>
      (await ask('settle', bodyOf(sent), key)).json(),
    pay: async (changes) => {
      const payer = await fundedAccount(chain, price)
      return { payer, ...(await sign402(chain, payer, seller, changes)) }
    },
  }
}

/** The body that servers of `@x402/core` send. */
export function bodyOf({ paymentPayload, paymentRequirements }: Sent) {
  return { x402Version: 2, paymentPayload, paymentRequirements }
}

/** How many transfers of the token the recipient got. */
export async function transfersTo(
  { clients, token }: DevChain,
  recipient: Address,
): Promise<number> {
  const logs = await clients.public.getLogs({
    address: token,
    event: transferEvent,
    args: { to: recipient },
    fromBlock: 0n,
  })
  return parseEventLogs({ abi: [transferEvent], logs }).length
}

const transferEvent = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256', indexed: false },
  ],
} as const
