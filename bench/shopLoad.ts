import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { type Hex, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { nextMessage } from './childMessages.js'
import type { Row } from './compare.js'
import { percentile } from './ordersClaim.js'
import { makeFolder } from './ordersShop.js'
import type { BackendPlace, BackendReport } from './shopLoadBackend.js'
import type { Crowd, CrowdReport } from './shopLoadBuyers.js'
import { sized } from './sized.js'
import { startMiner } from './startMiner.js'

/** Milliseconds in which orders are begun. */
const duration = sized(60_000, 2_000)

/** Milliseconds between two blocks. */
const blockTime = 250

const merchantKey = 'bench'

/**
 * Buyers who all buy at the same time, each one thing after another, at one
 * backend: web server, orders and worker in one process with SQLite.
 *
 * @throws when a request fails, or an order is lost or captured twice.
 */
export async function benchShopLoad(buyers: number): Promise<Row[]> {
  const chain = await startDevChain({ blockTime: 0 })
  const folder = makeFolder()
  const children: ChildProcess[] = []
  const miner = await startMiner(chain)
  try {
    const backend = await start(children, 'shopLoadBackend.ts', {
      dev: shareable(chain),
      url: chain.urls.http,
      file: join(folder.path, 'orders.db'),
      key: toHex(randomBytes(32)),
      privateKey: await makeSeller(chain),
      merchantKey,
    })
    const port = await nextMessage(backend)
    const keys = await makeBuyers(chain, buyers)
    let crowd: CrowdReport | undefined
    const pace = { automine: false, every: blockTime }
    await miner.mineBeside(pace, async () => {
      const url = `http://127.0.0.1:${port}/payments`
      const told: Crowd = { url, merchantKey, keys, duration }
      const child = await start(children, 'shopLoadBuyers.ts', told)
      crowd = await nextReport<CrowdReport>(child)
    })
    backend.send('report')
    const report = await nextReport<BackendReport>(backend)
    backend.send('end')
    await once(backend, 'exit')
    if (!crowd) throw new Error('The buyers told nothing.')
    check(crowd, report)
    return rowsOf(buyers, crowd, report)
  } finally {
    for (const child of children) if (child.exitCode === null) child.kill()
    miner.stop()
    await chain.stop()
    folder.remove()
  }
}

async function start(
  children: ChildProcess[],
  name: string,
  told: BackendPlace | Crowd,
): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL(name, import.meta.url)))
  children.push(child)
  child.send(told)
  return child
}

/** The child is our own: it reports what its file says. */
async function nextReport<report>(child: ChildProcess): Promise<report> {
  return (await nextMessage(child)) as report
}

function shareable({ chain, token }: DevChain): BackendPlace['dev'] {
  const { id, name, nativeCurrency, rpcUrls } = chain
  return { chain: { id, name, nativeCurrency, rpcUrls }, token }
}

async function makeSeller({ clients }: DevChain): Promise<Hex> {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  await clients.test.setBalance({ address, value: 10n ** 20n })
  return key
}

async function makeBuyers(chain: DevChain, count: number): Promise<Hex[]> {
  const keys = Array.from({ length: count }, generatePrivateKey)
  for (const key of keys) {
    const { address: to } = privateKeyToAccount(key)
    await chain.mint({ to, value: 1_000_000n * 10n ** 6n })
  }
  return keys
}

function check({ errors, captured }: CrowdReport, report: BackendReport): void {
  const [error] = errors
  if (error) throw new Error(`${errors.length} purchases failed: ${error}`)
  const { orders, transfers, capturedTwice, isAuditOk } = report
  const isWhole =
    isAuditOk &&
    capturedTwice === 0 &&
    new Set(captured).size === captured.length &&
    [orders, transfers, report.captured].every(
      (count) => count === captured.length,
    )
  if (!isWhole)
    throw new Error(
      `${captured.length} purchases, but ${JSON.stringify(report)}.`,
    )
}

function rowsOf(
  buyers: number,
  { times, captured }: CrowdReport,
  { memory, computed }: BackendReport,
): Row[] {
  const rate = captured.length / (duration / 1_000)
  const steps = Object.entries(times).map(([step, all]) => ({
    name: `shop ${buyers}: ${step}, p99`,
    peer: `p50 ${percentile(all, 0.5).toFixed(0)} ms`,
    ratio: percentile(all, 0.99),
    goal: 0,
    unit: 'ms',
  }))
  return [
    ...steps,
    {
      name: `shop ${buyers}: purchases in a second`,
      peer: `${captured.length} in all, none lost or twice`,
      ratio: rate,
      goal: 70,
      unit: '/s',
      why: 'About 20 ms of CPU time a purchase, all in one process.',
    },
    {
      name: `shop ${buyers}: computing for a purchase`,
      peer: 'of the backend, worker included',
      ratio: computed / captured.length,
      goal: 0,
      unit: 'ms',
    },
    {
      name: `shop ${buyers}: memory of the backend`,
      peer: '',
      ratio: memory,
      goal: 0,
      unit: 'MB',
    },
  ]
}
