import { type DevChain, startDevChain } from 'countersign/devchain'
import { memoryStore, type PaymentStore } from 'countersign/store'
import {
  createSubscriptions,
  type FoundCharge,
  findCharges,
  type SchedulePolicy,
  type Subscription,
  type Subscriptions,
  spendPermissions,
} from 'countersign/subscriptions'
import type { PrivateKeyAccount } from 'viem'
import { increaseTime, mine } from 'viem/actions'
import type { OrdersContext } from '../../../src/orders/context/types.js'
import { contextOf } from '../../../src/orders/contextOf.js'
import { type BaseAccount, createBaseAccount } from './baseAccount.js'
import { fundedAccount } from './desk.js'
import { signAs } from './permissionDesk.js'
import { openShop, type Shop } from './shop.js'

/** A chain with Circle's own token, and the manager of permissions. */
export const startSubscriptionChain = (blockTime = 0): Promise<DevChain> =>
  startDevChain({
    token: 'usdc',
    spendPermissions: true,
    blockTime,
    epochBlocks: 1,
  })

/** A shop that charges smart wallets, and works when it is driven. */
export type SubscriptionShop = Shop & {
  subscriptions: Subscriptions
  context: OrdersContext
  account: PrivateKeyAccount
  /** Runs a worker while `isDone` is false; mines a block between two checks. */
  workUntil(
    isDone: () => Promise<boolean>,
    options?: { mines?: boolean },
  ): Promise<void>
  /** Subscribes a funded wallet. */
  subscribe(fields?: SubscribeFields): Promise<Subscribed>
}

type Subscribed = { id: string; wallet: BaseAccount }

type SubscribeFields = Partial<Parameters<Subscriptions['draft']>[0]> & {
  /** Token units in the wallet. Default: 100 USDC. */
  funds?: bigint
  deployed?: boolean
}

/** Seconds of a period. */
export const period = 1000n

export async function openSubscriptionShop(
  chain: DevChain,
  given: {
    store?: PaymentStore
    account?: PrivateKeyAccount
    policy?: SchedulePolicy
    changes?: Parameters<typeof openShop>[1]
  } = {},
): Promise<SubscriptionShop> {
  const account = given.account ?? (await fundedAccount(chain))
  const store = given.store ?? memoryStore()
  const shop = await openShop(chain, {
    sellers: [account],
    store,
    policy: { pollingInterval: 20, fulfilAt: 'included' },
    kinds: [spendPermissions()],
    ...given.changes,
  })
  const { orders } = shop
  const subscriptions = createSubscriptions({
    orders,
    policy: { retryAfter: 50n, ...given.policy },
  })
  const { context } = contextOf(orders)
  const workUntil: SubscriptionShop['workUntil'] = async (
    isDone,
    { mines = true } = {},
  ) => {
    const stop = new AbortController()
    const { signal } = stop
    const ended = Promise.all([
      orders.run({ signal }),
      subscriptions.run({ signal }),
    ])
    try {
      // Bounded by looks, not by time: each waits for some polls.
      for (let looks = 0; looks < 400; looks++) {
        if (await isDone()) return
        if (mines) await mine(chain.clients.test, { blocks: 1 })
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error('not done after 400 looks')
    } finally {
      stop.abort()
      await ended
    }
  }
  const subscribe: SubscriptionShop['subscribe'] = async (fields = {}) => {
    const { funds = 100_000_000n, deployed = true, ...terms } = fields
    const wallet = await createBaseAccount(chain)
    if (deployed) await wallet.deploy()
    if (funds) await chain.mint({ to: wallet.address, value: funds })
    const { subscription, permission } = await subscriptions.draft({
      account: wallet.address,
      ...(terms.allowance === undefined ? { amount: '10' } : {}),
      period,
      periods: 12,
      ...terms,
    })
    const { id } = subscription
    const signature = await signAs(wallet, permission)
    const verdict = await subscriptions.accept({
      subscriptionId: id,
      signature,
    })
    if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
    return { id, wallet }
  }
  return { ...shop, subscriptions, context, account, workUntil, subscribe }
}

/** Moves the chain's clock. */
export async function pass(chain: DevChain, seconds: bigint): Promise<void> {
  await increaseTime(chain.clients.test, { seconds: Number(seconds) })
  await mine(chain.clients.test, { blocks: 1 })
}

/** The charges of a subscription, oldest first: id, state, amount. */
export async function chargesOf(
  { subscriptions }: Pick<SubscriptionShop, 'subscriptions'>,
  subscriptionId: string,
): Promise<[id: string, state: string, value: bigint][]> {
  const { charges } = await subscriptions.charges({ subscriptionId })
  return charges
    .map(({ id, state, value }): [string, string, bigint] => [
      id.split('/')[1] ?? '',
      state,
      value,
    ])
    .reverse()
}

/** How often the chain shows that a subscription was charged. */
export async function countUses(
  ...parameters: Parameters<typeof findUsed>
): Promise<number> {
  return (await findUsed(...parameters)).length
}

/** The charges of a subscription that the chain shows. */
export async function findUsed(
  { clients }: Pick<DevChain, 'clients'>,
  { subscriptions }: Pick<SubscriptionShop, 'subscriptions'>,
  subscriptionId: string,
): Promise<FoundCharge[]> {
  const { permission } = await subscriptions.get({ subscriptionId })
  return findCharges(clients.public, { permission, fromBlock: 0n })
}

export const stateOf = async (
  { subscriptions }: Pick<SubscriptionShop, 'subscriptions'>,
  subscriptionId: string,
): Promise<Subscription['state']> =>
  (await subscriptions.get({ subscriptionId })).state

/** Copies subscriptions without their charges, as an old backup would have. */
export async function restoreBackup(
  shop: SubscriptionShop,
): Promise<PaymentStore> {
  const store = memoryStore()
  await store.open()
  const rows = await shop.store.read(async (tables) => {
    const { destinations: listed } = shop.context
    const subscriptions = await tables.subscriptions.find({ listed, limit: 9 })
    const ids = subscriptions.map((row) => row.id)
    return {
      subscriptions,
      orders: await tables.orders.find({ ids }),
      attempts: await tables.attempts.find({ orderIds: ids }),
    }
  })
  await store.write(async (tables) => {
    await tables.subscriptions.insert(rows.subscriptions)
    await tables.orders.insert(rows.orders)
    await tables.attempts.insert(rows.attempts)
  })
  return store
}
