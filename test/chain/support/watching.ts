import type { DevChain } from 'countersign/devchain'
import type { Hash, TransactionReceipt } from 'viem'
import { mine, waitForTransactionReceipt } from 'viem/actions'
import type { OrdersContext } from '../../../src/orders/context/types.js'
import { loadOrders } from '../../../src/orders/model/loadOrders.js'
import { openRefundSigner } from '../../../src/orders/submitter/signRefunds.js'
import {
  openWatchAsides,
  type WatchAside,
  type WatchAsides,
} from '../../../src/orders/watcher/watchAside.js'
import {
  type ChainWatcher,
  watchChain,
} from '../../../src/orders/watcher/watchChain.js'
import type {
  Destination,
  EventRecord,
  OrderRecord,
} from '../../../src/store/types.js'

/** The first destination of a context. */
export function destinationOf({ destinations }: OrdersContext): Destination {
  const [destination] = destinations
  if (!destination) throw new Error('a context without a destination')
  return destination
}

/** Watches the chain of a context's first destination. */
export function watchOf(
  context: OrdersContext,
  options: Partial<Parameters<typeof watchChain>[2]> = {},
): ChainWatcher {
  const signer = openRefundSigner(context)
  const { chainId } = destinationOf(context)
  return watchChain(context, chainId, { signer, ...options })
}

/**
 * A watcher of a chain that looks when it is called; each look reconciles, and
 * tries again at once what failed before.
 */
export function watcherOf(context: OrdersContext): () => Promise<unknown> {
  const watcher = watchOf(context, {
    asides: asidesOf(context, { isWaiting: () => false }),
    reconcileEvery: 0,
  })
  return () => watcher.look()
}

/**
 * The failures of a watch, where the test decides what waits, however slow the
 * machine is.
 */
export function asidesOf(
  context: OrdersContext,
  {
    isWaiting,
    onPut = () => undefined,
  }: {
    isWaiting: (name: string) => boolean
    onPut?: (name: string, pause: number) => void
  },
): WatchAsides {
  const asides = openWatchAsides(context, destinationOf(context).chainId)
  const tell = (name: string, pause: number): number => {
    onPut(name, pause)
    return pause
  }
  const told = (aside: WatchAside): WatchAside => ({
    ...aside,
    isWaiting,
    put: (name, error, part) => tell(name, aside.put(name, error, part)),
    at: (destination) => {
      const list = aside.at(destination)
      const put: typeof list.put = (name, error) =>
        tell(name, list.put(name, error))
      return { ...list, isWaiting, put }
    },
  })
  return {
    ...asides,
    chain: told(asides.chain),
    ofToken: (token) => told(asides.ofToken(token)),
  }
}

export async function orderOf(
  { store }: OrdersContext,
  id: string,
): Promise<OrderRecord> {
  const [order] = await store.read(({ orders }) => orders.find({ ids: [id] }))
  if (!order) throw new Error(`no order ${id}`)
  return order
}

/** Everything on record about an order. */
export function fileOf({ store }: OrdersContext, id: string) {
  return store.read(async (tables) => {
    const stored = (await loadOrders(tables, { ids: [id] })).get(id)
    if (!stored) throw new Error(`no order ${id}`)
    const transactions = await tables.transactions.find({ orderIds: [id] })
    return { ...stored, transactions }
  })
}

/** All events of a context's destinations, in their order. */
export function eventsOf({
  store,
  destinations,
}: OrdersContext): Promise<EventRecord[]> {
  return store.read(({ events }) =>
    events.find({ destinations, after: 0n, limit: 100_000 }),
  )
}

export async function typesOf(
  context: OrdersContext,
  id?: string | undefined,
): Promise<string[]> {
  const events = await eventsOf(context)
  return events.filter(({ orderId }) => orderId === id).map(({ type }) => type)
}

export function mineBlocks(chain: DevChain, blocks: number): Promise<void> {
  return mine(chain.clients.test, { blocks })
}

/** Has a reorganization move a transaction to another block; what it is there. */
export async function moveMined(
  chain: DevChain,
  hash: Hash,
  depth: number,
): Promise<TransactionReceipt> {
  await mineBlocks(chain, 1)
  await chain.reorg({ depth })
  return waitForTransactionReceipt(chain.clients.public, { hash })
}

/** Everything on record, to see whether anything changed. */
export async function recordOf(context: OrdersContext) {
  const { store, destinations } = context
  return store.read(async ({ orders, attempts, proofs, events }) => {
    const listed = await orders.find({ listed: destinations, limit: 10_000 })
    const orderIds = listed.map(({ id }) => id)
    return {
      listed,
      attempts: await attempts.find({ orderIds }),
      proofs: await proofs.find({ destinations, limit: 10_000 }),
      events: await events.find({ destinations, after: 0n, limit: 10_000 }),
    }
  })
}
