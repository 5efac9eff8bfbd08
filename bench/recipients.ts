import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startDevChain } from 'countersign/devchain'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { nextMessage } from './childMessages.js'
import type { Row } from './compare.js'
import { makeFolder } from './ordersShop.js'
import type { RecipientsCost, RecipientsShop } from './recipientsWorker.js'
import { sized } from './sized.js'
import { startDelayProxy } from './startServer.js'

/**
 * What a worker may ask of its node in a minute, by number of recipients: calls
 * and HTTP requests while it is quiet, and calls while an order is in flight.
 */
const limits = new Map([
  [1, { calls: 30, requests: 12, busy: 110 }],
  [300, { calls: 30, requests: 12, busy: 110 }],
  [10_000, { calls: 70, requests: 24, busy: 250 }],
])

/** What a shop costs with many recipients of one token, in SQLite. */
export async function benchRecipients(): Promise<Row[]> {
  const folder = makeFolder()
  try {
    const costs = new Map<number, RecipientsCost>()
    for (const count of [...limits.keys()].slice(0, sized(limits.size, 2)))
      costs.set(
        count,
        await measureApart({ count, file: join(folder.path, `${count}.db`) }),
      )
    const one = costs.get(1)
    if (!one) throw new Error('One recipient is needed.')
    return [...costs].flatMap(([count, cost]) => rowsOf(count, cost, one))
  } finally {
    folder.remove()
  }
}

/**
 * A process for each number of recipients, because its memory is measured, and
 * a chain, because an order that sticks raises its fees.
 */
async function measureApart(
  shop: Pick<RecipientsShop, 'count' | 'file'>,
): Promise<RecipientsCost> {
  const dev = await startDevChain({ blockTime: 2 })
  const { chain, token, urls } = dev
  const counter = await startDelayProxy(urls.http, 0)
  const seller = generatePrivateKey()
  const { address } = privateKeyToAccount(seller)
  await dev.clients.test.setBalance({ address, value: 10n ** 20n })
  const payer = generatePrivateKey()
  const { address: to } = privateKeyToAccount(payer)
  await dev.mint({ to, value: 1_000_000n * 10n ** 6n })
  const script = new URL('recipientsWorker.ts', import.meta.url)
  const child = fork(fileURLToPath(script), {
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  const { id, name, nativeCurrency, rpcUrls } = chain
  const told: RecipientsShop = {
    ...shop,
    dev: { chain: { id, name, nativeCurrency, rpcUrls }, token },
    url: counter.url,
    seller,
    payer,
  }
  child.send(told)
  // The child is our own: it reports what its file says.
  const cost = (await nextMessage(child)) as RecipientsCost
  await once(child, 'exit')
  counter.stop()
  await dev.stop()
  return cost
}

function rowsOf(
  count: number,
  cost: RecipientsCost,
  one: RecipientsCost,
): Row[] {
  const most = limits.get(count)
  if (!most) throw new Error(`There are no limits for ${count} recipients.`)
  const name = count === 1 ? 'one recipient' : `${count} recipients`
  const limited = (
    what: string,
    value: number,
    { limit, unit }: { limit: number; unit: string },
  ): Row => ({
    name: `${name}: ${what}, ${value.toFixed(1)} ${unit}`,
    peer: `limit of ${limit} ${unit}`,
    ratio: limit / value,
    goal: 1,
    unit: 'time',
  })
  const rows = [
    limited('start', cost.start, { limit: 3_000, unit: 'ms' }),
    limited('CPU of a quiet worker', cost.cpu, {
      limit: 15,
      unit: 'ms a second',
    }),
    limited('statements of a quiet worker', cost.statements, {
      limit: 100,
      unit: 'a minute',
    }),
    limited('RPC calls of a quiet worker', cost.calls, {
      limit: most.calls,
      unit: 'a minute',
    }),
    limited('HTTP requests of a quiet worker', cost.requests, {
      limit: most.requests,
      unit: 'a minute',
    }),
    limited('RPC calls with an order in flight', cost.stuckCalls, {
      limit: most.busy,
      unit: 'a minute',
    }),
    limited('RPC calls from accept to capture', cost.captureCalls, {
      limit: 30,
      unit: 'an order',
    }),
  ]
  if (count === 1) return rows
  const memory = Math.max(1, cost.memory - one.memory)
  rows.push(
    limited('memory above one recipient', memory, { limit: 60, unit: 'MB' }),
  )
  for (const [call, own] of Object.entries(cost.verbs)) {
    const peer = one.verbs[call] ?? Number.NaN
    rows.push({
      name: `${name}: ${call}, ${own.toFixed(1)} ms`,
      peer: `1.5 times that of one, ${peer.toFixed(1)} ms`,
      ratio: (1.5 * peer) / own,
      goal: 1,
      unit: 'time',
      sides: { own, peer, unit: 'ms' },
    })
  }
  return rows
}
