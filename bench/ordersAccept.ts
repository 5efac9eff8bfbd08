import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type DevChain, startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { sqliteStore } from 'countersign/sql'
import type { PrivateKeyAccount } from 'viem'
import { median, type Row } from './compare.js'
import {
  acceptOrders,
  makeFolder,
  makePayers,
  openShop,
  signOrders,
} from './ordersShop.js'
import { sized } from './sized.js'
import { startDelayProxy } from './startServer.js'

const accepts = sized(300, 20)
const rounds = sized(5, 1)

/** Payments verified and kept, sealed, on SQLite beside a local node. */
export async function benchOrdersAccept(): Promise<Row[]> {
  const chain = await startDevChain({ blockTime: 0 })
  const counter = await startDelayProxy(chain.urls.http, 0)
  const folder = makeFolder()
  const shopAt = (url: string, name: string): Orders =>
    openShop(chain, {
      url,
      key: randomBytes(32),
      accounts: [merchantOf(chain)],
      store: sqliteStore({ file: join(folder.path, name) }),
    })
  const near = shopAt(chain.urls.http, 'near.db')
  const counted = shopAt(counter.url, 'counted.db')
  try {
    const payers = await makePayers(chain, accepts)
    const rate = await measureRate(near, payers)
    const requests = await countRequests(counted, payers, counter.countRequests)
    return [
      {
        name: `accept, ${rate.toFixed(0)} a second, sealed, SQLite`,
        peer: 'limit of 200 a second',
        ratio: rate / 200,
        goal: 1,
        unit: 'time',
      },
      {
        name: `accept, ${requests} HTTP request`,
        peer: 'limit of 1 HTTP request',
        ratio: 1 / requests,
        goal: 1,
        unit: 'HTTP',
      },
    ]
  } finally {
    await near.close()
    await counted.close()
    counter.stop()
    folder.remove()
    await chain.stop()
  }
}

function merchantOf({ accounts }: DevChain): PrivateKeyAccount {
  const [, merchant] = accounts
  if (!merchant) throw new Error('Two accounts are needed.')
  return merchant
}

/** The median of some rounds, after one to warm up. */
async function measureRate(
  orders: Orders,
  payers: readonly PrivateKeyAccount[],
): Promise<number> {
  const rates: number[] = []
  for (let round = -1; round < rounds; round++) {
    const signed = await signOrders(orders, payers, accepts)
    const start = performance.now()
    await acceptOrders(orders, signed)
    const rate = (accepts / (performance.now() - start)) * 1000
    if (round >= 0) rates.push(rate)
  }
  return median(rates)
}

/** The most requests one accept took, one after another. */
async function countRequests(
  orders: Orders,
  payers: readonly PrivateKeyAccount[],
  count: () => Promise<number>,
): Promise<number> {
  const counts: number[] = []
  for (const one of await signOrders(orders, payers, 10)) {
    const before = await count()
    await acceptOrders(orders, [one])
    counts.push((await count()) - before)
  }
  return Math.max(...counts)
}
