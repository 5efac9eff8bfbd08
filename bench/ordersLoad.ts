import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { postgresStore } from 'countersign/sql'
import { type Hex, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import {
  startDatabase,
  type TestDatabase,
} from '../test/chain/support/database.js'
import { median, type Row } from './compare.js'
import type { LoadOrders } from './ordersLoadWorker.js'
import { acceptOrders, makePayers, openShop, signOrders } from './ordersShop.js'
import { sized } from './sized.js'

const rounds = sized(3, 1)
const sizes = [1, 2, 4]

/** Captures a second of workers with one database, each with a recipient. */
export async function benchOrdersLoad(captures: number): Promise<Row[]> {
  const database = await startDatabase()
  try {
    const rates = new Map<number, number[]>(sizes.map((size) => [size, []]))
    for (let round = 0; round < rounds; round++)
      for (const workers of round % 2 ? [...sizes].reverse() : sizes) {
        const name = `load_${round}_${workers}`
        const rate = await measureRate(database, { workers, captures, name })
        rates.get(workers)?.push(rate)
      }
    const rateOf = (workers: number) => median(rates.get(workers) ?? [])
    return sizes.map((workers) => ({
      name: `load ${captures}, workers: ${workers}, ${rateOf(workers).toFixed(0)}/s`,
      peer: 'one worker, one recipient',
      ratio: rateOf(workers) / rateOf(1),
      goal: 0,
      unit: 'time',
    }))
  } finally {
    await database.stop()
  }
}

async function measureRate(
  database: TestDatabase,
  {
    workers,
    captures,
    name,
  }: { workers: number; captures: number; name: string },
): Promise<number> {
  const chain = await startDevChain({ blockTime: 0 })
  const place = {
    connectionString: await database.create(name),
    key: toHex(randomBytes(32)),
  }
  const keys = Array.from({ length: workers }, generatePrivateKey)
  const children: ChildProcess[] = []
  try {
    await stockShop(chain, { ...place, keys, captures })
    for (const privateKey of keys)
      children.push(await startWorker(chain, { ...place, privateKey }))
    const start = performance.now()
    for (const child of children) child.send('go')
    await allCaptured(database, name, captures)
    return (captures / (performance.now() - start)) * 1000
  } finally {
    await Promise.all(children.map(endWorker))
    await chain.stop()
  }
}

type Place = Pick<LoadOrders, 'connectionString' | 'key'>

/** Orders of all recipients that are due as soon as somebody works. */
async function stockShop(
  chain: DevChain,
  {
    connectionString,
    key,
    keys,
    captures,
  }: Place & { keys: readonly Hex[]; captures: number },
): Promise<void> {
  const accounts = keys.map((one) => privateKeyToAccount(one))
  const desk = openShop(chain, {
    url: chain.urls.http,
    store: postgresStore({ connectionString }),
    key: Buffer.from(key.slice(2), 'hex'),
    accounts,
    policy: { capture: 'onAccept' },
  })
  const payers = await makePayers(chain, 25)
  for (const { address } of accounts) {
    const value = 10n ** 20n
    await chain.clients.test.setBalance({ address, value })
    const count = captures / accounts.length
    await acceptOrders(
      desk,
      await signOrders(desk, payers, count, { recipient: address }),
    )
  }
  await desk.close()
}

async function startWorker(
  { chain, token, urls }: DevChain,
  own: Place & { privateKey: Hex },
): Promise<ChildProcess> {
  const script = new URL('ordersLoadWorker.ts', import.meta.url)
  const child = fork(fileURLToPath(script))
  const { id, name, nativeCurrency, rpcUrls } = chain
  const dev = { chain: { id, name, nativeCurrency, rpcUrls }, token }
  const told: LoadOrders = { ...own, dev, url: urls.http }
  child.send(told)
  await once(child, 'message')
  return child
}

async function endWorker(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.disconnect()
  await ended
}

async function allCaptured(
  database: TestDatabase,
  name: string,
  captures: number,
): Promise<void> {
  for (;;) {
    const [row] = await database.ask(
      `select count(*) as captured from countersign.orders
        where state = 'captured'`,
      name,
    )
    if (Number(row?.captured) >= captures) return
    await sleep(20)
  }
}
