import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Keccak256 } from 'countersign'
import { loadAccelerator } from 'countersign/accelerate'
import { type DevChain, startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { sqliteStore } from 'countersign/sql'
import { memoryStore } from 'countersign/store'
import type { PrivateKeyAccount } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { type Candidates, compareTimes, median, type Row } from './compare.js'
import { captureByHand, settleByX402, signFor } from './ordersPeers.js'
import {
  acceptOrders,
  makeFolder,
  makePayers,
  openShop,
  signOrders,
} from './ordersShop.js'
import { sized } from './sized.js'
import { startMiner } from './startMiner.js'
import { startDelayProxy } from './startServer.js'

const captures = sized(500, 10)
/** What the peers do of them; their times are scaled. */
const byHand = sized(20, 2)
const byX402 = sized(100, 10)

const rounds = 5

/** Milliseconds between blocks; viem's wait needs one after each receipt it missed. */
const crowd = { automine: false, every: 20 }
const alone = { automine: true, every: 50 }

/**
 * How the shop keeps its orders, and signs. The peers keep nothing of theirs, and
 * sign with viem.
 */
type Keeping =
  | 'sealed, SQLite'
  | 'sealed, SQLite, accelerated'
  | 'sealed, SQLite, accelerated, 100 in a transaction'
  | 'in memory'

/** 500 captures on one account, the node as it is and 25 ms away. */
export async function benchOrdersCapture(): Promise<Row[]> {
  return [
    ...(await raceAll('sealed, SQLite', { viem: 40, x402: 6 })),
    ...(await raceAll('sealed, SQLite, accelerated', { viem: 55, x402: 8 })),
    ...(await raceAll('sealed, SQLite, accelerated, 100 in a transaction', {
      viem: 70,
      x402: 12,
    })),
    ...(await raceAll('in memory', { viem: 55, x402: 8 })),
  ]
}

async function raceAll(
  keeping: Keeping,
  goals: { viem: number; x402: number },
): Promise<Row[]> {
  const near = await race(0, keeping)
  const far = await race(25, keeping)
  const viem = 'viem write + wait, one by one'
  const x402 = 'x402 settle, nonceManager, 100 at once'
  const name = `${captures} captures, ${keeping}`
  const away = `${name}, +25 ms`
  const unit = 'time'
  const why = keeping.includes('accelerated')
    ? undefined
    : 'Half of the CPU time is signing by viem; with fastAccount, see the rows "accelerated".'
  return [
    {
      name,
      peer: viem,
      ratio: near.viem,
      goal: 5,
      unit,
      sides: sidesOf(near, 'viem'),
    },
    {
      name,
      peer: x402,
      ratio: near.x402,
      goal: 0,
      unit,
      sides: sidesOf(near, 'x402'),
    },
    {
      name: away,
      peer: viem,
      ratio: far.viem,
      goal: goals.viem,
      unit,
      sides: sidesOf(far, 'viem'),
      why,
    },
    {
      name: away,
      peer: x402,
      ratio: far.x402,
      goal: goals.x402,
      unit,
      sides: sidesOf(far, 'x402'),
      why,
    },
    {
      name: `${away}, requests: ${far.requests}`,
      peer: 'limit of 20 HTTP requests',
      ratio: 20 / far.requests,
      goal: 1,
      unit: 'HTTP',
    },
  ]
}

type Raced = {
  viem: number
  x402: number
  requests: number
  /** Captures a second. */
  rates: Record<'own' | 'viem' | 'x402', number>
}

function rateOf(count: number, milliseconds = Number.NaN): number {
  return (count / milliseconds) * 1000
}

function sidesOf({ rates }: Raced, peer: 'viem' | 'x402'): Row['sides'] {
  return { own: rates.own, peer: rates[peer], unit: 'a second' }
}

async function race(added: number, keeping: Keeping): Promise<Raced> {
  const requests: number[] = []
  let stage: Stage | undefined
  const { ratios, milliseconds } = await compareTimes('countersign', {
    rounds,
    // The node gets slower with each of its blocks: a new one a round.
    prepare: async () => {
      await stage?.stop()
      stage = await setStage({ milliseconds: added, keeping }, (count) =>
        requests.push(count),
      )
      return stage.candidates
    },
  })
  await stage?.stop()
  return {
    viem: ((ratios.viem ?? Number.NaN) * captures) / byHand,
    x402: ((ratios.x402 ?? Number.NaN) * captures) / byX402,
    rates: {
      own: rateOf(captures, milliseconds.countersign),
      viem: rateOf(byHand, milliseconds.viem),
      x402: rateOf(byX402, milliseconds.x402),
    },
    // An anvil that leaves a transaction lie is asked for many a look.
    requests: median(requests),
  }
}

type Stage = { candidates: Candidates; stop: () => Promise<void> }

async function setStage(
  { milliseconds, keeping }: { milliseconds: number; keeping: Keeping },
  tell: (requests: number) => void,
): Promise<Stage> {
  const isBatched = keeping.endsWith('in a transaction')
  const chain = await startDevChain({ blockTime: 0, batches: isBatched })
  const [, usual, relayer, hand] = chain.accounts
  if (!usual || !relayer || !hand) throw new Error('Four are needed.')
  const fast = keeping.includes('accelerated') ? await speedUp(chain) : {}
  const { account: merchant = usual, keccak256 } = fast
  const payers = await makePayers(chain, 25)
  const received = await signFor(chain, payers, {
    to: hand.address,
    count: byHand,
    primaryType: 'ReceiveWithAuthorization',
  })
  const transferred = await signFor(chain, payers, {
    to: merchant.address,
    count: byX402,
    primaryType: 'TransferWithAuthorization',
  })
  const counter = await startDelayProxy(chain.urls.http, milliseconds)
  const miner = await startMiner(chain)
  const url = milliseconds ? counter.url : chain.urls.http
  const shop = await stockShop(chain, {
    payers,
    account: merchant,
    keccak256,
    url,
    keeping,
  })
  return {
    candidates: {
      countersign: (time) =>
        miner.mineBeside(crowd, async () => {
          const before = await counter.countRequests()
          await time(() => captureAll(shop))
          tell((await counter.countRequests()) - before)
        }),
      viem: (time) =>
        miner.mineBeside(alone, () =>
          time(() =>
            captureByHand(chain, { url, account: hand, payments: received }),
          ),
        ),
      x402: (time) =>
        miner.mineBeside(crowd, () =>
          time(() =>
            settleByX402(chain, {
              url,
              account: relayer,
              payments: transferred,
            }),
          ),
        ),
    },
    stop: async () => {
      await shop.close()
      counter.stop()
      miner.stop()
      await chain.stop()
    },
  }
}

/** What is done by WebAssembly. */
type Fast = {
  account?: PrivateKeyAccount
  keccak256?: Keccak256 | undefined
}

/** A merchant with ether, who signs and hashes by WebAssembly. */
async function speedUp(chain: DevChain): Promise<Fast> {
  const { fastAccount, keccak256 } = await loadAccelerator()
  const account = fastAccount(generatePrivateKey())
  const { address } = account
  await chain.clients.test.setBalance({ address, value: 10n ** 21n })
  return { account, keccak256 }
}

type Stock = {
  orders: Orders
  ids: readonly string[]
  close: () => Promise<void>
}

/** A shop with orders that are paid and due. */
async function stockShop(
  chain: DevChain,
  {
    payers,
    account,
    keccak256,
    url,
    keeping,
  }: Fast & {
    payers: readonly PrivateKeyAccount[]
    account: PrivateKeyAccount
    url: string
    keeping: Keeping
  },
): Promise<Stock> {
  const folder = makeFolder()
  const file = join(folder.path, 'orders.db')
  const memory = memoryStore({ volatile: true })
  const isKept = keeping !== 'in memory'
  const openStore = () => (isKept ? sqliteStore({ file }) : memory)
  const key = isKept ? randomBytes(32) : undefined
  const isBatched = keeping.endsWith('in a transaction')
  // Nodes of Base take four at a time of an account that delegates.
  const policy = isBatched ? { maxInFlight: 4 } : {}
  const place = { key, accounts: [account], keccak256, policy }
  // What is done before the clock runs need not be slow.
  const near = { url: chain.urls.http, store: openStore() }
  const desk = openShop(chain, { ...place, ...near })
  // Through Multicall3, which takes no Receive payments.
  const signed = isBatched
    ? await signOrders(desk, payers, captures, {
        recipient: account.address,
        primaryType: 'TransferWithAuthorization',
      })
    : await signOrders(desk, payers, captures)
  await acceptOrders(desk, signed)
  await desk.close()
  const orders = openShop(chain, { ...place, url, store: openStore() })
  const ids = signed.map(({ orderId }) => orderId)
  await orders.get({ orderId: ids[0] ?? '' })
  return {
    orders,
    ids,
    close: async () => {
      await orders.close()
      folder.remove()
    },
  }
}

async function captureAll({ orders, ids }: Stock): Promise<void> {
  const results = await Promise.all(
    ids.map((orderId) => orders.capture({ orderId })),
  )
  const open = results.find(({ status }) => status !== 'captured')
  if (open) throw new Error(`Not captured: ${open.status}.`)
}
