import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { sqliteStore } from 'countersign/sql'
import { createX402Gate, honoPayment } from 'countersign/x402'
import { Hono } from 'hono'
import type { PrivateKeyAccount } from 'viem'
import { type Candidates, compare, median, type Row } from './compare.js'
import { makeFolder, makePayers, openShop } from './ordersShop.js'
import { startMiner } from './startMiner.js'
import { startDelayProxy } from './startServer.js'
import { type App, openStockApp } from './x402Peers.js'

const crowd = 200
const inTurn = 10
const rounds = 5
const address = 'http://api.example/work'

/** Paid requests against the stock middleware: one after another, and 200 at once. */
export async function benchX402Paid(): Promise<Row[]> {
  const alone = await race({ count: inTurn, isCrowd: false })
  const many = await race({ count: crowd, isCrowd: true })
  const peer = 'x402 middleware + facilitator in process'
  return [
    {
      name: 'paid request, authorization',
      peer,
      ratio: alone.ratio,
      goal: 3,
      unit: 'time',
      why: 'It makes 3 durable writes of 4 to 12 ms each; the peer keeps nothing.',
    },
    {
      name: `${crowd} paid requests at once`,
      peer,
      ratio: many.ratio,
      goal: 8,
      unit: 'time',
      why: 'About 5 ms of CPU time a payment: rows, sealing and checks.',
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

type Raced = { ratio: number; own: number; stock: number }

type Pace = {
  count: number
  /** All at once, or one after another. */
  isCrowd: boolean
}

async function race({ count, isCrowd }: Pace): Promise<Raced> {
  const requests: Record<'own' | 'stock', number[]> = { own: [], stock: [] }
  let stage: Stage | undefined
  const times = await compare('own', {
    rounds,
    // The node gets slower with each of its blocks: a new one a round.
    prepare: async () => {
      await stage?.stop()
      stage = await setStage({ count, isCrowd }, (who, sent) =>
        requests[who].push(sent),
      )
      return stage.candidates
    },
  })
  await stage?.stop()
  return {
    ratio: times.stock ?? Number.NaN,
    own: median(requests.own) / count,
    stock: median(requests.stock) / count,
  }
}

type Stage = { candidates: Candidates; stop: () => Promise<void> }

async function setStage(
  { count, isCrowd }: Pace,
  tell: (who: 'own' | 'stock', requests: number) => void,
): Promise<Stage> {
  const chain = await startDevChain({ blockTime: 0 })
  const [, merchant, stockMerchant] = chain.accounts
  if (!merchant || !stockMerchant) throw new Error('Two are needed.')
  const payers = await makePayers(chain, 25)
  const counter = await startDelayProxy(chain.urls.http, 0)
  const miner = await startMiner(chain)
  const { url } = counter
  const own = openOwnApp(chain, { url, account: merchant })
  const stock = await openStockApp(chain, { url, account: stockMerchant })
  const apps = { own: own.app, stock }
  const headers = {
    own: await signAll(apps.own, payers, count + 1),
    stock: await signAll(apps.stock, payers, count + 1),
  }
  const candidate =
    (who: 'own' | 'stock'): Candidates[string] =>
    (time) =>
      miner.mineBeside({ automine: !isCrowd, every: 20 }, async () => {
        const [first = '', ...others] = headers[who]
        // Opens connections, on both sides.
        await payAll(apps[who], [first])
        const before = await counter.countRequests()
        await time(async () => {
          if (isCrowd) await payAll(apps[who], others)
          else for (const header of others) await payAll(apps[who], [header])
        })
        tell(who, (await counter.countRequests()) - before)
      })
  return {
    candidates: { own: candidate('own'), stock: candidate('stock') },
    stop: async () => {
      await own.stop()
      miner.stop()
      counter.stop()
      await chain.stop()
    },
  }
}

function openOwnApp(
  chain: DevChain,
  { url, account }: { url: string; account: PrivateKeyAccount },
): { app: App; stop: () => Promise<void> } {
  const folder = makeFolder()
  const orders = openShop(chain, {
    url,
    store: sqliteStore({ file: join(folder.path, 'orders.db') }),
    key: randomBytes(32),
    accounts: [account],
    policy: { pollingInterval: 20, maxInFlight: crowd },
  })
  const gate = createX402Gate({
    orders,
    offers: { work: { amount: '0.01' } },
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
