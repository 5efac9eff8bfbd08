import process from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { loadAccelerator } from 'countersign/accelerate'
import { startDevChain } from 'countersign/devchain'
import type { PrivateKeyAccount } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { type App, createStockApp } from '../examples/x402/stockServer.js'
import { type Candidates, compareTimes, median, type Row } from './compare.js'
import { makePayers } from './ordersShop.js'
import { sized } from './sized.js'
import { startMiner } from './startMiner.js'
import { startDelayProxy } from './startServer.js'
import { openOwnApp } from './x402Own.js'

const crowd = sized(200, 5)
const inTurn = sized(14, 3)
const rounds = 5
/** Milliseconds. */
const mostCpu = 2.5
const address = 'http://api.example/weather'
const peer = 'x402 middleware + facilitator in process'

/** One after another, with ticks of 200 ms and blocks of 2 s. */
export async function benchX402Ticks(): Promise<Row[]> {
  const raced = await race({ count: inTurn, isCrowd: false, isTicking: true })
  return [rowOf('paid request, ticks of 200 ms', raced, 1 / 1.4)]
}

/** One after another, on a chain that mines at once. */
export async function benchX402InTurn(): Promise<Row[]> {
  const raced = await race({ count: inTurn, isCrowd: false })
  return [
    rowOf('paid request, mined at once', raced, 1 / 0.8),
    requestsRow(raced, ''),
  ]
}

/** 200 at once, on a chain that mines every 20 ms. */
export async function benchX402Crowd(): Promise<Row[]> {
  const many = await race({ count: crowd, isCrowd: true })
  const fast = await race({ count: crowd, isCrowd: true, isAccelerated: true })
  const rowsOf = (name: string, raced: Raced): Row[] => [
    {
      name,
      peer,
      ratio: raced.ratio,
      goal: 6,
      unit: 'time',
      sides: {
        own: (1000 * crowd) / raced.own.took,
        peer: (1000 * crowd) / raced.stock.took,
        unit: 'a second',
      },
      why: 'Rows, sealing, checks and a signature of each payment.',
    },
    {
      name: `CPU of one: ${raced.own.cpu.toFixed(2)} ms`,
      peer: `limit of ${mostCpu} ms`,
      ratio: mostCpu / raced.own.cpu,
      goal: raced === fast ? 1 : 0,
      unit: 'time',
      why: 'Statements of SQLite and rows are the largest part.',
    },
  ]
  return [
    ...rowsOf(`${crowd} paid requests at once`, many),
    ...rowsOf(`${crowd} paid requests at once, fastAccount`, fast),
    requestsRow(many, `, of ${crowd}`),
  ]
}

function rowOf(name: string, { own, stock, ratio }: Raced, goal: number): Row {
  return {
    name: `${name}: ${own.took.toFixed(0)} ms, stock ${stock.took.toFixed(0)} ms`,
    peer,
    ratio,
    goal,
    unit: 'time',
    sides: { own: own.took, peer: stock.took, unit: 'ms' },
    why: 'It writes before the work, before sending and before the answer; the peer keeps nothing.',
  }
}

function requestsRow({ own, stock }: Raced, words: string): Row {
  return {
    name: `node requests a paid request: ${own.requests.toFixed(2)}${words}`,
    peer: `x402: ${stock.requests.toFixed(2)}`,
    ratio: stock.requests / own.requests,
    goal: 0,
    unit: 'HTTP',
  }
}

type Side = {
  /** Milliseconds: of all of a crowd, or the median of one after another. */
  took: number
  /** HTTP requests to the node, for each paid request. */
  requests: number
  /** Milliseconds of CPU, for each paid request. */
  cpu: number
}

type Raced = {
  /** How many times longer the stock middleware took. */
  ratio: number
  own: Side
  stock: Side
}

type Pace = {
  count: number
  /** All at once, or one after another. */
  isCrowd: boolean
  /** True for blocks of 2 seconds with pre-confirmations. */
  isTicking?: boolean
  /** True to sign and hash by WebAssembly. */
  isAccelerated?: boolean
}

type Spent = { requests: number; cpu: number }

async function race(pace: Pace): Promise<Raced> {
  const { count } = pace
  const spent: Record<'own' | 'stock', Spent[]> = { own: [], stock: [] }
  let stage: Stage | undefined
  const { ratios, milliseconds } = await compareTimes('own', {
    rounds,
    // The node gets slower with each of its blocks: a new one a round.
    prepare: async () => {
      await stage?.stop()
      stage = await setStage(pace, (who, one) => spent[who].push(one))
      return stage.candidates
    },
  })
  await stage?.stop()
  const sideOf = (who: 'own' | 'stock'): Side => {
    // Without the rounds that warm up.
    const counted = spent[who].slice(-rounds)
    return {
      took: milliseconds[who] ?? Number.NaN,
      requests: median(counted.map(({ requests }) => requests)) / count,
      cpu: median(counted.map(({ cpu }) => cpu)) / count,
    }
  }
  return {
    ratio: ratios.stock ?? Number.NaN,
    own: sideOf('own'),
    stock: sideOf('stock'),
  }
}

type Stage = { candidates: Candidates; stop: () => Promise<void> }

async function setStage(
  { count, isCrowd, isTicking = false, isAccelerated = false }: Pace,
  tell: (who: 'own' | 'stock', spent: Spent) => void,
): Promise<Stage> {
  const chain = await startDevChain(
    isTicking
      ? { preconfirmations: 'flashblocks', blockTime: 2, tick: 200 }
      : { blockTime: 0 },
  )
  const [, merchant, stockMerchant] = chain.accounts
  if (!merchant || !stockMerchant) throw new Error('Two are needed.')
  const payers = await makePayers(chain, 25)
  const counter = await startDelayProxy(chain.urls.http, 0)
  const miner = isTicking ? undefined : await startMiner(chain)
  const { url } = counter
  const fast = isAccelerated ? await loadAccelerator() : undefined
  const account = fast ? fast.fastAccount(generatePrivateKey()) : merchant
  await chain.clients.test.setBalance({
    address: account.address,
    value: 10n ** 21n,
  })
  const own = openOwnApp(chain, {
    url,
    account,
    keccak256: fast?.keccak256,
    most: crowd,
    isTicking,
  })
  const stock = await createStockApp(chain, {
    url,
    account: stockMerchant,
    isTicking,
  })
  const apps = { own: own.app, stock }
  const headers = {
    own: await signAll(apps.own, payers, count + 1),
    stock: await signAll(apps.stock, payers, count + 1),
  }
  const candidate =
    (who: 'own' | 'stock'): Candidates[string] =>
    (time) => {
      const work = async () => {
        const [first = '', ...others] = headers[who]
        // Opens connections, on both sides.
        await payAll(apps[who], [first])
        const before = await counter.countRequests()
        const begun = process.cpuUsage()
        let cpu = 0
        await time(async () => {
          const took = isCrowd
            ? await payAll(apps[who], others)
            : await payInTurn(apps[who], others)
          const { user, system } = process.cpuUsage(begun)
          cpu = (user + system) / 1000
          return took
        })
        tell(who, { requests: (await counter.countRequests()) - before, cpu })
      }
      return miner
        ? miner.mineBeside({ automine: !isCrowd, every: 20 }, work)
        : work()
    }
  return {
    candidates: { own: candidate('own'), stock: candidate('stock') },
    stop: async () => {
      await own.stop()
      miner?.stop()
      counter.stop()
      await chain.stop()
    },
  }
}

/** Payment headers as stock clients sign them, by several payers in turn. */
async function signAll(
  app: App,
  payers: readonly PrivateKeyAccount[],
  count: number,
): Promise<string[]> {
  const asked = await app.fetch(new Request(address))
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const payer = payers[at % payers.length]
      if (!payer) throw new Error('There are no payers.')
      const client = new x402HTTPClient(
        x402Client.fromConfig({
          schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(payer) }],
          spendControls: { allowedAssets: true },
        }),
      )
      const required = client.getPaymentRequiredResponse((name) =>
        asked.headers.get(name),
      )
      const payload = await client.createPaymentPayload(required)
      const headers = client.encodePaymentSignatureHeader(payload)
      return headers['PAYMENT-SIGNATURE'] ?? ''
    }),
  )
}

/**
 * Pays one after another, each at another moment between two ticks. Returns the
 * median of their milliseconds.
 */
async function payInTurn(
  app: App,
  headers: readonly string[],
): Promise<number> {
  const took: number[] = []
  for (const [at, header] of headers.entries()) {
    await wait((200 * at) / headers.length)
    took.push(await payAll(app, [header]))
  }
  return median(took)
}

/** Returns the milliseconds until the last is answered. */
async function payAll(app: App, headers: readonly string[]): Promise<number> {
  const start = performance.now()
  const responses = await Promise.all(
    headers.map((header) =>
      app.fetch(
        new Request(address, { headers: { 'PAYMENT-SIGNATURE': header } }),
      ),
    ),
  )
  const failed = responses.filter(({ status }) => status !== 200)
  if (failed.length > 0)
    throw new Error(
      `${failed.length} of ${headers.length} not paid: ${failed[0]?.status}.`,
    )
  return performance.now() - start
}
