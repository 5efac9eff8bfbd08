import type { SignedCancellation, SignedPayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import { createPaymentHandler, type PaymentHandler } from 'countersign/http'
import type { Observation } from 'countersign/orders'
import {
  memoryStore,
  type OrderState,
  type PaymentStore,
  sealer,
} from 'countersign/store'
import type { Address, PrivateKeyAccount } from 'viem'
import { toJson } from '../../../src/core/toJson.js'
import { fundedAccount, revoke } from './desk.js'
import { openShop, pay, type Shop, setOrder } from './shop.js'

/** Whose an order is: a shop of the handler, or one beside it in the store. */
type Owner = 'a' | 'b' | 'stranger'

/** An order with all that its buyer has. */
export type Known = {
  id: string
  owner: Owner
  token: string
  signed: SignedPayment
  cancellation: SignedCancellation
}

export type FuzzWorld = {
  handle: PaymentHandler
  shop: Shop
  known: Known[]
  recipients: Readonly<Record<Owner, Address>>
  /** What each merchant shows; the stranger's opens nothing here. */
  keys: Readonly<Record<Owner, string>>
  observed: Observation[]
  /** Further orders of the first merchant, as if those before were gone. */
  renew(): Promise<void>
  /** How many units of work were written so far. */
  writes(): number
  /** Every row of all orders that were there in the beginning. */
  rows(owners?: readonly Owner[]): Promise<string>
  /** Every row of everything. */
  everything(): Promise<string>
}

export const base = 'https://shop.test/payments'
export const buyerSite = 'https://page.test'

const keys = { a: 'key-of-a', b: 'key-of-b', stranger: 'key-of-stranger' }

/** Two merchants behind one handler, a third beside it, orders of each state. */
export async function openWorld(chain: DevChain): Promise<FuzzWorld> {
  const accounts = {
    a: await fundedAccount(chain),
    b: await fundedAccount(chain),
    stranger: await fundedAccount(chain),
  }
  const { store, writes } = countWrites(memoryStore())
  const observed: Observation[] = []
  const options = {
    store,
    seal: sealer({
      keys: { one: crypto.getRandomValues(new Uint8Array(32)) },
      current: 'one',
    }),
    observe: (observation: Observation) => {
      observed.push(observation)
    },
  }
  const sellers = [accounts.a, accounts.b]
  // What sells has submitters at work behind it; what is asked has none.
  const front = await openShop(chain, { ...options, sellers })
  const shop = await openShop(chain, { ...options, sellers })
  const beside = await openShop(chain, {
    ...options,
    sellers: [accounts.stranger],
  })
  const known: Known[] = [
    ...(await fill(chain, front, 'a', accounts.a)),
    ...(await fill(chain, front, 'b', accounts.b)),
    ...(await fill(chain, beside, 'stranger', accounts.stranger)),
  ]
  const recipients = mapOwners((owner) => lower(accounts[owner].address))
  await Promise.all([front, beside].map(({ orders }) => orders.close()))
  await shop.orders.list()
  const handle = createPaymentHandler(shop.orders, {
    basePath: '/payments',
    authorize: ({ headers }) => {
      const given = headers.get('authorization')
      const refunds = { perDay: '5.00' }
      if (given === `Bearer ${keys.a}`)
        return { recipients: [recipients.a], refunds }
      if (given === `Bearer ${keys.b}`)
        return { recipients: [recipients.b], refunds }
      return undefined
    },
    cors: { origins: [buyerSite] },
  })
  const idsOf = (owners: readonly Owner[]) =>
    known.flatMap(({ id, owner }) => (owners.includes(owner) ? [id] : []))
  const renew = async () => {
    const others = known.filter(({ owner }) => owner !== 'a')
    const own = await fill(chain, shop, 'a', accounts.a)
    known.splice(0, known.length, ...own, ...others)
  }
  return {
    renew,
    handle,
    shop,
    known,
    recipients,
    keys,
    observed,
    writes,
    rows: (owners = ['a', 'b', 'stranger']) => dump(store, idsOf(owners)),
    everything: async () => {
      const destinations = mapOwners((owner) => ({
        chainId: 31337,
        token: chain.token,
        recipient: recipients[owner],
      }))
      const listed = Object.values(destinations)
      const orders = await store.read((tables) =>
        tables.orders.find({ listed, limit: 1_000_000 }),
      )
      return dump(
        store,
        orders.map(({ id }) => id),
      )
    },
  }
}

const lower = (address: string) => address.toLowerCase() as Address

function mapOwners<value>(work: (owner: Owner) => value): Record<Owner, value> {
  return { a: work('a'), b: work('b'), stranger: work('stranger') }
}

function countWrites(inner: PaymentStore): {
  store: PaymentStore
  writes: () => number
} {
  let count = 0
  const write: PaymentStore['write'] = async (work, options) => {
    const result = await inner.write(work, options)
    count++
    return result
  }
  return { store: { ...inner, write }, writes: () => count }
}

/** Orders of one merchant, in every state there is. */
async function fill(
  chain: DevChain,
  shop: Shop,
  owner: Owner,
  seller: PrivateKeyAccount,
): Promise<Known[]> {
  const buyer = await fundedAccount(chain, 1_000_000_000n)
  const known: Known[] = []
  const sell = async (payer?: Address) => {
    const { orders } = shop
    const drafted = await orders.draft({
      amount: '12.50',
      recipient: seller.address,
      window: 86_400n,
      ...(payer ? { payer } : {}),
    })
    const signed = await pay(buyer, drafted.payment)
    const cancellation = await revoke(chain, signed, buyer)
    const { order, buyerToken: token } = drafted
    const sold = { id: order.id, owner, token, signed, cancellation }
    known.push(sold)
    return sold
  }
  const sellPaid = async () => {
    const sold = await sell()
    const verdict = await shop.orders.accept({
      orderId: sold.id,
      payment: sold.signed,
    })
    if (!verdict.ok) throw new Error(verdict.reason)
    return sold
  }
  for (let count = 0; count < 3; count++) await sell()
  await sell(buyer.address)
  for (let count = 0; count < 3; count++) await sellPaid()
  await shop.orders.capture({ orderId: (await sellPaid()).id })
  await shop.orders.void({ orderId: (await sell()).id })
  await shop.orders.void({ orderId: (await sellPaid()).id })
  const canceled = await sellPaid()
  const { id: orderId, cancellation } = canceled
  await shop.orders.acceptCancellation({ orderId, cancellation })
  const states: OrderState[] = ['expired', 'consumed']
  for (const state of states) await setOrder(shop, (await sell()).id, { state })
  return known
}

async function dump(
  store: PaymentStore,
  ids: readonly string[],
): Promise<string> {
  const rows = await store.read(async (tables) => {
    const all = []
    for (const id of ids) {
      const orderIds = [id]
      all.push(
        await tables.orders.find({ ids: orderIds }),
        await tables.attempts.find({ orderIds }),
        await tables.transactions.find({ orderIds }),
        await tables.proofs.find({ orderIds }),
        await tables.events.find({ orderIds }),
      )
    }
    return all
  })
  return toJson(rows)
}
