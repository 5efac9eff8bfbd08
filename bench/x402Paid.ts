import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { loadAccelerator } from 'countersign/accelerate'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { sqliteStore } from 'countersign/sql'
import { createX402Gate, honoPayment } from 'countersign/x402'
import { Hono } from 'hono'
import type { PrivateKeyAccount } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { type Candidates, compareTimes, median, type Row } from './compare.js'
import { makeFolder, makePayers, openShop } from './ordersShop.js'
import { startMiner } from './startMiner.js'
import { startDelayProxy } from './startServer.js'
import { type App, openStockApp } from './x402Peers.js'

const crowd = 200
const inTurn = 10
const rounds = 5
/** Milliseconds. */
const mostCpu = 2.5
const address = 'http://api.example/work'

/**
 * Paid requests against the stock middleware: one after another, on chains that
 * mine at once and with pre-confirmations, and 200 at once.
 */
export async function benchX402Paid(): Promise<Row[]> {
  const alone = await race({ count: inTurn, isCrowd: false })
  const early = await race({ count: inTurn, isCrowd: false, isTicking: true })
  const many = await race({ count: crowd, isCrowd: true })
  const fast = await race({ count: crowd, isCrowd: true, isAccelerated: true })
  const peer = 'x402 middleware + facilitator in process'
  return [
    {
      name: 'paid request, authorization',
      peer,
      ratio: alone.ratio,
      goal: 1.25,
      unit: 'time',
      why: 'It makes 3 durable writes of 4 to 12 ms each; the peer keeps nothing.',
    },
    {
      name: `paid request, answered at preconfirmed, ticks of 200 ms: ${early.took.toFixed(0)} ms`,
      // The stock middleware took 110 ms on a node that shows it such receipts.
      peer: `limit of ${1.4 * 110} ms`,
      ratio: (1.4 * 110) / early.took,
      goal: 1,
      unit: 'time',
      why: 'It writes before the work, before sending and before the answer.',
    },
    {
      name: `${crowd} paid requests at once`,
      peer,
      ratio: many.ratio,
      goal: 6,
      unit: 'time',
      why: 'Rows, sealing, checks and a signature of each payment.',
    },
    {
      name: `CPU of a paid request, of ${crowd}, fastAccount: ${fast.cpu.toFixed(1)} ms`,
      peer: `limit of ${mostCpu} ms`,
      ratio: mostCpu / fast.cpu,
      goal: 1,
      unit: 'time',
      why: 'Statements of SQLite and rows are the largest part.',
    },
    ...[alone, many].map(({ own, stock }, index) => ({
      name: `node requests a paid request: ${own.toFixed(2)}${index ? `, of ${crowd}` : ''}`,
      peer: `x402: ${stock.toFixed(2)}`,
      ratio: stock / own,
      goal: 0,
      unit: 'HTTP',
    })),
  ]
}

type Raced = {
  ratio: number
  /** Requests to the node, for each paid request. */
  own: number
  stock: number
  /** Milliseconds of one's own paid request, and of its CPU time. */
  took: number
  cpu: number
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

async function race(pace: Pace): Promise<Raced> {
  const { count } = pace
  const cpu: number[] = []
  const requests: Record<'own' | 'stock', number[]> = { own: [], stock: [] }
  let stage: Stage | undefined
  const { ratios, milliseconds } = await compareTimes('own', {
    rounds,
    // The node gets slower with each of its blocks: a new one a round.
    prepare: async () => {
      await stage?.stop()
      stage = await setStage(pace, (who, spent) => {
        requests[who].push(spent.requests)
        if (who === 'own') cpu.push(spent.milliseconds)
      })
      return stage.candidates
    },
  })
  await stage?.stop()
  return {
    ratio: ratios.stock ?? Number.NaN,
    took: (milliseconds.own ?? Number.NaN) / count,
    own: median(requests.own) / count,
    stock: median(requests.stock) / count,
    cpu: median(cpu) / count,
  }
}

type Stage = { candidates: Candidates; stop: () => Promise<void> }

async function setStage(
  { count, isCrowd, isTicking = false, isAccelerated = false }: Pace,
  tell: (
    who: 'own' | 'stock',
    spent: { requests: number; milliseconds: number },
  ) => void,
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
  const key = generatePrivateKey()
  const account = fast ? fast.fastAccount(key) : merchant
  await chain.clients.test.setBalance({
    address: account.address,
    value: 10n ** 21n,
  })
  const own = openOwnApp(chain, {
    url,
    account,
    keccak256: fast?.keccak256,
    isTicking,
  })
  const stock = await openStockApp(chain, { url, account: stockMerchant })
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
        let spent = 0
        await time(async () => {
          if (isCrowd) await payAll(apps[who], others)
          const took = isCrowd ? undefined : await payInTurn(apps[who], others)
          const { user, system } = process.cpuUsage(begun)
          spent = (user + system) / 1000
          return took
        })
        const sent = (await counter.countRequests()) - before
        tell(who, { requests: sent, milliseconds: spent })
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

function openOwnApp(
  chain: DevChain,
  {
    url,
    account,
    keccak256,
    isTicking,
  }: Pick<Parameters<typeof openShop>[1], 'url' | 'keccak256'> & {
    account: PrivateKeyAccount
    isTicking: boolean
  },
): { app: App; stop: () => Promise<void> } {
  const folder = makeFolder()
  const orders = openShop(chain, {
    url,
    store: sqliteStore({ file: join(folder.path, 'orders.db') }),
    key: randomBytes(32),
    accounts: [account],
    policy: {
      pollingInterval: 20,
      maxInFlight: crowd,
      mostAtRisk: { total: '1000' },
    },
    keccak256,
  })
  const early = { answerAt: 'preconfirmed', preconfirmedUpTo: '1' } as const
  const gate = createX402Gate({
    orders,
    offers: { work: { amount: '0.01', ...(isTicking ? early : {}) } },
    mostOpen: crowd,
  })
  const app = new Hono()
  app.use('/work', honoPayment(gate, 'work'))
  app.get('/work', (context) => context.text('done'))
  return {
    app,
    stop: async () => {
      await orders.close()
      folder.remove()
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
 * milliseconds that the requests took.
 */
async function payInTurn(
  app: App,
  headers: readonly string[],
): Promise<number> {
  let took = 0
  for (const [at, header] of headers.entries()) {
    await wait((200 * at) / headers.length)
    const start = performance.now()
    await payAll(app, [header])
    took += performance.now() - start
  }
  return took
}

async function payAll(app: App, headers: readonly string[]): Promise<void> {
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
}
