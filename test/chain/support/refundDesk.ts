import { type DevChain, startDevChain } from 'countersign/devchain'
import type { Orders, Refund } from 'countersign/orders'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { type Address, erc20Abi, type PrivateKeyAccount } from 'viem'
import { mine, readContract } from 'viem/actions'
import type { OrdersContext } from '../../../src/orders/context/types.js'
import { contextOf } from '../../../src/orders/contextOf.js'
import { fundedAccount } from './desk.js'
import { openShop, type Shop, storedOrder } from './shop.js'
import { watcherOf } from './watching.js'

/** The price of an order, in token units. */
export const price = 12_500_000n

/** A chain with Circle's own token, whose blocks are final after two. */
export const startRefundChain = (): Promise<DevChain> =>
  startDevChain({ token: 'usdc', blockTime: 0, epochBlocks: 1 })

/** A shop whose watcher and submitters work when they are driven. */
export type RefundShop = Shop & {
  context: OrdersContext
  seller: Address
  account: PrivateKeyAccount
  /** Mines a block and looks at the chain once. */
  look(): Promise<void>
  /** Runs a worker while `isDone` is false; mines a block between two checks. */
  workUntil(isDone: () => Promise<boolean>): Promise<void>
  /** An order that is captured in a final block. */
  sell(
    draft?: Parameters<typeof storedOrder>[2],
  ): Promise<{ id: string; buyer: PrivateKeyAccount }>
}

export const policy = {
  capture: 'manual',
  fulfilAt: 'included',
  pollingInterval: 20,
} as const

/** Opens a shop for refunds. A second one can share the seller. */
export async function openRefundShop(
  chain: DevChain,
  given: {
    store?: PaymentStore
    account?: PrivateKeyAccount
    changes?: Parameters<typeof openShop>[1]
  } = {},
): Promise<RefundShop> {
  const account = given.account ?? (await fundedAccount(chain))
  const store = given.store ?? memoryStore()
  const shop = await openShop(chain, {
    sellers: [account],
    store,
    policy,
    ...given.changes,
  })
  const { context } = contextOf(shop.orders)
  const watch = watcherOf(context)
  const look = async () => {
    await mine(chain.clients.test, { blocks: 1 })
    await watch()
  }
  const workUntil: RefundShop['workUntil'] = async (isDone) => {
    const stop = new AbortController()
    const ended = shop.orders.run({ signal: stop.signal })
    try {
      // Bounded by looks, not by time: each waits for some polls.
      for (let looks = 0; looks < 400; looks++) {
        if (await isDone()) return
        await mine(chain.clients.test, { blocks: 1 })
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error('not done after 400 looks')
    } finally {
      stop.abort()
      await ended
    }
  }
  const sell: RefundShop['sell'] = async (draft) => {
    const recipient = shop.seller
    const { id, buyer } = await storedOrder(chain, shop, {
      recipient,
      ...draft,
    })
    const result = await shop.orders.capture({ orderId: id })
    if (result.status !== 'captured') throw new Error(result.status)
    await mine(chain.clients.test, { blocks: 3 })
    return { id, buyer }
  }
  return { ...shop, context, account, look, workUntil, sell }
}

/** Requests a refund that must be accepted. */
export async function requestRefund(
  orders: Orders,
  orderId: string,
  refundId: string,
  amount?: string,
): Promise<Refund> {
  const verdict = await orders.refund({ orderId, refundId, amount })
  if (!verdict.ok) throw new Error(verdict.reason)
  return verdict.refund
}

/** Works until a refund is final. */
export async function carryToEnd(
  { orders, workUntil }: RefundShop,
  orderId: string,
  refundId: string,
): Promise<Refund> {
  const get = () => orders.getRefund({ orderId, refundId })
  await workUntil(async () => (await get()).transfer?.finality === 'finalized')
  return get()
}

export const balanceOf = (chain: DevChain, account: Address): Promise<bigint> =>
  readContract(chain.clients.public, {
    address: chain.token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })
