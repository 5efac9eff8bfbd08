import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { nextMessage } from './childMessages.js'
import type { Row } from './compare.js'
import { percentile } from './ordersClaim.js'
import { makePayers } from './ordersShop.js'
import { sized } from './sized.js'
import { startMiner } from './startMiner.js'
import type { ServerPlace, ServerReport } from './x402Server.js'

/** Clients at once, each with one request after another. */
const clients = sized(200, 5)
const payersCount = 25

/** Seconds. */
const usual = 60

/**
 * Stock clients of x402 that pay over HTTP on loopback, at one server after the
 * other. Each server has its own process, and so has the node.
 *
 * @param seconds how long the requests of one server are counted.
 */
export async function benchX402Http(seconds = usual): Promise<Row[]> {
  const own = await load('own', seconds)
  const stock = await load('stock', seconds)
  const slowest = percentile(own.times, 0.99)
  const stockSlowest = percentile(stock.times, 0.99)
  return [
    {
      name: `x402 over HTTP, ${seconds} s: requests a second, ${own.failed} failed`,
      peer: `x402: ${stock.rate.toFixed(1)}, ${stock.failed} failed`,
      ratio: own.rate,
      goal: 150,
      unit: '/s',
      sides: { own: own.rate, peer: stock.rate, unit: 'a second' },
      why: 'Clients, server, node and database share the cores.',
    },
    {
      name: `x402 over HTTP: slowest 1%, ${slowest.toFixed(0)} ms`,
      peer: `limit of 1500 ms; x402: ${stockSlowest.toFixed(0)} ms`,
      ratio: 1500 / slowest,
      goal: 1,
      unit: 'time',
      sides: { own: slowest, peer: stockSlowest, unit: 'ms' },
      why: `${clients} requests wait at once.`,
    },
    {
      name: `x402 over HTTP: CPU of the server, ${own.cpu.toFixed(2)} ms`,
      peer: `x402: ${stock.cpu.toFixed(2)} ms`,
      ratio: stock.cpu / own.cpu,
      goal: 0,
      unit: 'time',
    },
  ]
}

type Load = {
  /** Milliseconds of each paid answer, from the first request on. */
  times: number[]
  failed: number
  /** Paid answers a second. */
  rate: number
  /** Milliseconds of CPU of the server, for each paid answer. */
  cpu: number
}

async function load(who: ServerPlace['who'], seconds: number): Promise<Load> {
  const chain = await startDevChain({ blockTime: 0 })
  const miner = await startMiner(chain)
  const server = fork(fileURLToPath(new URL('x402Server.ts', import.meta.url)))
  try {
    const { port } = await openServer(server, who, chain)
    const buy = await makeBuyers(chain, `http://127.0.0.1:${port}/weather`)
    let loaded: Load | undefined
    await miner.mineBeside({ automine: false, every: 20 }, async () => {
      const control = new AbortController()
      const buying = buyUntil(control.signal, buy)
      // Warms up code and connections of both sides.
      await buying.begun
      const before = await askServer(server)
      const start = performance.now()
      buying.restart()
      await wait(1_000 * seconds)
      const { times, failed } = buying.restart()
      const took = performance.now() - start
      const after = await askServer(server)
      control.abort()
      await buying.ended
      loaded = {
        times,
        failed,
        rate: (1_000 * times.length) / took,
        cpu: (after.cpu - before.cpu) / times.length,
      }
    })
    if (!loaded) throw new Error('Nothing was measured.')
    return loaded
  } finally {
    if (server.connected) {
      server.disconnect()
      await once(server, 'exit')
    }
    miner.stop()
    await chain.stop()
  }
}

async function openServer(
  server: ChildProcess,
  who: ServerPlace['who'],
  { chain, token, urls, clients: { test } }: DevChain,
): Promise<ServerReport> {
  const privateKey = generatePrivateKey()
  const { address } = privateKeyToAccount(privateKey)
  await test.setBalance({ address, value: 10n ** 21n })
  const { id, name, nativeCurrency, rpcUrls } = chain
  const place: ServerPlace = {
    who,
    dev: { chain: { id, name, nativeCurrency, rpcUrls }, token },
    url: urls.http,
    privateKey,
    most: clients,
  }
  server.send(place)
  return nextReport(server)
}

function askServer(server: ChildProcess): Promise<ServerReport> {
  server.send('report')
  return nextReport(server)
}

/** The server is our own: it reports what its file says. */
async function nextReport(server: ChildProcess): Promise<ServerReport> {
  return (await nextMessage(server)) as ServerReport
}

type Buy = (client: number) => Promise<Response>

async function makeBuyers(chain: DevChain, url: string): Promise<Buy> {
  const pays = (await makePayers(chain, payersCount)).map((payer) =>
    wrapFetchWithPayment(
      fetch,
      x402Client.fromConfig({
        schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(payer) }],
        spendControls: { allowedAssets: true },
      }),
    ),
  )
  return async (client) => {
    const pay = pays[client % pays.length]
    if (!pay) throw new Error('There are no payers.')
    return pay(url)
  }
}

type Bought = Pick<Load, 'times' | 'failed'>

/** Has all clients buy. `restart` returns what was answered since the last one. */
function buyUntil(
  signal: AbortSignal,
  buy: Buy,
): { restart: () => Bought; begun: Promise<unknown>; ended: Promise<unknown> } {
  let bought: Bought = { times: [], failed: 0 }
  const buyOnce = async (client: number): Promise<void> => {
    const start = performance.now()
    const isPaid = await buy(client).then(
      async (response) => {
        await response.text()
        return response.status === 200
      },
      () => false,
    )
    if (isPaid) bought.times.push(performance.now() - start)
    else bought.failed++
  }
  const firsts = Array.from({ length: clients }, (_, at) => buyOnce(at))
  const buyOn = async (first: Promise<void>, client: number): Promise<void> => {
    await first
    while (!signal.aborted) await buyOnce(client)
  }
  return {
    restart: () => {
      const counted = bought
      bought = { times: [], failed: 0 }
      return counted
    },
    begun: Promise.all(firsts),
    ended: Promise.all(firsts.map(buyOn)),
  }
}
