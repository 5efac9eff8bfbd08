import type { DevChain } from 'countersign/devchain'
import type { Hash, Hex } from 'viem'
import { getBlock, mine } from 'viem/actions'
import { readFiles } from '../../src/orders/orderFiles.js'
import type { OrdersContext } from '../../src/orders/types.js'
import { watchScope } from '../../src/orders/watchScope.js'
import type { WatchMemory } from '../../src/orders/watchState.js'
import type { EventRecord, OrderRecord, Scope } from '../../src/store/types.js'

/** The first scope of a context. */
export function scopeOf({ scopes }: OrdersContext): Scope {
  const [scope] = scopes
  if (!scope) throw new Error('a context without a scope')
  return scope
}

/** A watcher of one scope, to be told when to look; each look reconciles. */
export function watcherOf(context: OrdersContext): () => Promise<unknown> {
  const memory: WatchMemory = {}
  return () => {
    memory.nextReconcile &&= 0n
    return watchScope(context, scopeOf(context), memory)
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
    const file = (await readFiles(tables, [id])).get(id)
    if (!file) throw new Error(`no order ${id}`)
    return file
  })
}

/** All events of a context's scopes, in their order. */
export function eventsOf({
  store,
  scopes,
}: OrdersContext): Promise<EventRecord[]> {
  return store.read(({ events }) =>
    events.find({ scopes, after: 0n, limit: 100_000 }),
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

/** Replaces the newest blocks by others, with their transactions or without. */
export async function fork(
  { clients }: DevChain,
  depth: number,
  transactions: 'replayed' | 'dropped' = 'dropped',
): Promise<void> {
  const { test } = clients
  const { number } = await getBlock(clients.public)
  const raws: Hex[] = []
  for (let at = number - BigInt(depth) + 1n; at <= number; at++) {
    const { transactions: hashes } = await getBlock(clients.public, {
      blockNumber: at,
    })
    for (const hash of hashes) raws.push(await rawOf(clients, hash))
  }
  const ask = (method: string, params: unknown[]) =>
    test.request({ method, params } as never)
  await ask('anvil_rollback', [depth])
  await ask('anvil_dropAllTransactions', [])
  // Another time makes another block.
  const { timestamp } = await getBlock(clients.public)
  await ask('evm_setNextBlockTimestamp', [Number(timestamp) + 1])
  await mine(test, { blocks: 1 })
  const again = transactions === 'replayed' ? raws : []
  for (const raw of again) await ask('eth_sendRawTransaction', [raw])
  const head = await getBlock(clients.public)
  const missing = Number(number - head.number)
  if (missing > 0) await mine(test, { blocks: missing })
}

function rawOf({ test }: DevChain['clients'], hash: Hash): Promise<Hex> {
  const request = { method: 'eth_getRawTransactionByHash', params: [hash] }
  return test.request(request as never)
}
