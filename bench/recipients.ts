import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { nextMessage } from './childMessages.js'
import type { Row } from './compare.js'
import { makeFolder } from './ordersShop.js'
import type { RecipientsCost, RecipientsShop } from './recipientsWorker.js'

/** RPC calls a minute that a quiet worker may make, by number of recipients. */
const mostCalls: Readonly<Record<number, number>> = {
  1: 30,
  1000: 30,
  10000: 70,
}

/** What a shop costs with many recipients of one token, in SQLite. */
export async function benchRecipients(): Promise<Row[]> {
  const chain = await startDevChain({ blockTime: 2 })
  const folder = makeFolder()
  try {
    const costs = new Map<number, RecipientsCost>()
    for (const count of Object.keys(mostCalls).map(Number))
      costs.set(
        count,
        await measureApart(chain, {
          count,
          file: join(folder.path, `${count}.db`),
        }),
      )
    const one = costs.get(1)
    if (!one) throw new Error('One recipient is needed.')
    return [...costs].flatMap(([count, cost]) => rowsOf(count, cost, one))
  } finally {
    folder.remove()
    await chain.stop()
  }
}

/** A process for each number of recipients, because its memory is measured. */
async function measureApart(
  { chain, token, urls }: DevChain,
  shop: Pick<RecipientsShop, 'count' | 'file'>,
): Promise<RecipientsCost> {
  const script = new URL('recipientsWorker.ts', import.meta.url)
  const child = fork(fileURLToPath(script), {
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  const { id, name, nativeCurrency, rpcUrls } = chain
  const told: RecipientsShop = {
    ...shop,
    dev: { chain: { id, name, nativeCurrency, rpcUrls }, token },
    url: urls.http,
  }
  child.send(told)
  // The child is our own: it reports what its file says.
  const cost = (await nextMessage(child)) as RecipientsCost
  await once(child, 'exit')
  return cost
}

function rowsOf(
  count: number,
  cost: RecipientsCost,
  one: RecipientsCost,
): Row[] {
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
      limit: mostCalls[count] ?? 70,
      unit: 'a minute',
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
