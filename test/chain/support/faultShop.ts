import type { DevChain } from 'countersign/devchain'
import {
  createOrders,
  type Observation,
  type Orders,
  type OrdersPolicy,
} from 'countersign/orders'
import { memoryStore, type PaymentStore } from 'countersign/store'
import type { Account, Client, PrivateKeyAccount } from 'viem'
import { wait } from '../../../src/core/wait.js'
import { delegateByCode } from './delegateByCode.js'
import { fundedAccount, revoke } from './desk.js'
import { checkEvents } from './eventContract.js'
import { pay } from './shop.js'

/** Orders over one node, and how each of them has to end. */
export type FaultShop = {
  store: PaymentStore
  /** Reads and writes over a node that answers rightly. */
  honest: Orders
  /** Ids of orders that have to be captured and fulfilled once. */
  paid: string[]
  /** Ids of orders nobody pays. */
  unpaid: string[]
  /** Ids of orders whose buyer cancels while they are captured. */
  contested: string[]
  stop(): Promise<void>
}

export type Connect = (account?: Account | undefined) => Client

type FaultShopOptions = {
  store?: PaymentStore | undefined
  policy?: OrdersPolicy | undefined
  observe?: ((observation: Observation) => void) | undefined
  /** Whether the accounts of the recipients delegate, and so batch. */
  isDelegated?: boolean | undefined
  /** Whether buyers come to another process, whose node is right. */
  sellsHonestly?: boolean | undefined
  /** Starts the worker of this place, from 0. Default: just calls it. */
  startWorker?: (place: number, run: () => Promise<void>) => Promise<void>
}

/** Longest time of an order nobody pays, in seconds. */
const shortWindow = 60n

/**
 * Three recipients with two payments each, one order nobody pays, and one whose
 * buyer changes their mind; two workers that capture what is accepted.
 */
export async function openFaultShop(
  chain: DevChain,
  connect: Connect,
  {
    store = memoryStore({ volatile: true }),
    policy,
    observe,
    isDelegated = false,
    sellsHonestly = false,
    startWorker = (_, run) => run(),
  }: FaultShopOptions = {},
): Promise<FaultShop> {
  const sellers = await Promise.all([1, 2, 3].map(() => fundedAccount(chain)))
  if (isDelegated)
    for (const { address } of sellers) await delegateByCode(chain, address)
  const open = (through: Connect): Orders =>
    createOrders({
      store: checkEvents(store),
      seal: 'none',
      tokens: [{ client: through(), token: chain.token }],
      wallets: sellers.map((account) => through(account)),
      observe,
      policy: {
        capture: 'onAccept',
        relayCancellations: 'always',
        pollingInterval: 100,
        lease: 3_000,
        ...policy,
      },
    })
  const honest = open(honestly(chain))
  const workers = [open(connect), open(connect)]
  const ending = new AbortController()
  const { signal } = ending
  const running = workers.map((worker, place) =>
    startWorker(place, () => worker.run({ signal })),
  )
  const stop = async () => {
    ending.abort()
    await Promise.all(running)
  }
  const [cashier = honest] = sellsHonestly ? [] : workers
  const sell = async (
    recipient: PrivateKeyAccount | undefined,
    primaryType?: 'TransferWithAuthorization',
  ) => {
    const { order, payment } = await draftOrder(cashier, {
      amount: '1',
      recipient: recipient?.address,
      primaryType,
      window: 3_600n,
    })
    const buyer = await fundedAccount(chain, 1_000_000n)
    const signed = await pay(buyer, payment)
    await accept(cashier, order.id, signed)
    return { id: order.id, buyer, signed }
  }
  const sold = await Promise.all(
    sellers.flatMap((seller) => [
      sell(seller),
      sell(seller, 'TransferWithAuthorization'),
    ]),
  )
  const unpaid = await draftOrder(cashier, {
    amount: '1',
    recipient: sellers[0]?.address,
    window: shortWindow,
  })
  const contested = await sell(sellers[1])
  const cancellation = await revoke(chain, contested.signed, contested.buyer)
  await cashier
    .acceptCancellation({ orderId: contested.id, cancellation })
    .catch(() => undefined)
  return {
    store,
    honest,
    paid: sold.map(({ id }) => id),
    unpaid: [unpaid.order.id],
    contested: [contested.id],
    stop,
  }
}

function honestly(chain: DevChain): Connect {
  return (account) =>
    Object.assign({}, chain.clients.public, account ? { account } : {})
}

/** A merchant's page asks again when its server fails. */
async function draftOrder(
  orders: Orders,
  parameters: Parameters<Orders['draft']>[0],
): ReturnType<Orders['draft']> {
  for (let tries = 1; ; tries++)
    try {
      return await orders.draft(parameters)
    } catch (error) {
      if (tries === mostTries) throw error
      await wait(50)
    }
}

/** A buyer's page asks again when it was refused or not answered. */
async function accept(
  orders: Orders,
  orderId: string,
  payment: unknown,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const verdict = await orders
      .accept({ orderId, payment })
      .catch((error: unknown) => ({ ok: false, reason: String(error) }))
    if (verdict.ok) return
    if (tries === mostTries)
      throw new Error(`not accepted: ${JSON.stringify(Object(verdict).reason)}`)
    await wait(50)
  }
}

/** An order takes no payment after ten that were refused. */
const mostTries = 9
