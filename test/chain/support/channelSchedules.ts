import process from 'node:process'
import {
  finalizeWithdrawCall,
  getChannel,
  initiateWithdrawCall,
  parseChannelConfig,
} from 'countersign/channels'
import type { Hex } from 'viem'
import { getBlockNumber } from 'viem/actions'
import { wait } from '../../../src/core/wait.js'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import { type Buyer, ownBuyer, stockBuyer } from './channelBuyer.js'
import { untilDepositsStand } from './channelDeposits.js'
import { channelOf, channelOfferOf } from './channelPayer.js'
import {
  nextUrl,
  openSale,
  type Sale,
  type SaleProcess,
  sendAs,
} from './channelSale.js'
import { findLosses } from './channelVerdict.js'
import {
  type SwitchedFaults,
  type SwitchedKind,
  switchedFaults,
  switchedKinds,
} from './switchedFaults.js'
import { chain } from './x402Desk.js'

/** What happens next. Buyers and processes by their place. */
type Step =
  | { do: 'buy'; buyer: number; process: number; costs?: string }
  | { do: 'burst'; buyer: number; others: number }
  | { do: 'refund'; buyer: number; process: number }
  | { do: 'payBack'; buyer: number; process: number }
  | { do: 'claim'; process: number }
  | { do: 'withdraw'; buyer: number; isDown: boolean; part: number }
  | { do: 'reorg'; depth: number; transactions: 'replayed' | 'dropped' }
  | { do: 'fail'; process: number; kind: SwitchedKind; calls: number }
  | { do: 'restart'; process: number; isKilled: boolean }
  | { do: 'warp'; seconds: number }

const buyers = 4
const processes = 2

function drawSteps(seed: number, count: number): Step[] {
  const random = seededRandom(seed)
  const below = (end: number) => Math.floor(random() * end)
  const pick = <item>(items: readonly item[]): item => {
    const item = items[below(items.length)]
    if (item === undefined) throw new Error('nothing to pick')
    return item
  }
  const draw = (): Step => {
    const buyer = below(buyers)
    const process = below(processes)
    const kind = random()
    if (kind < 0.46) {
      const costs = pick(['', '', '0.0023', '0.01', '0'])
      return { do: 'buy', buyer, process, ...(costs && { costs }) }
    }
    if (kind < 0.56) return { do: 'burst', buyer, others: 1 + below(3) }
    if (kind < 0.61) return { do: 'refund', buyer, process }
    if (kind < 0.64) return { do: 'payBack', buyer, process }
    if (kind < 0.69) return { do: 'claim', process }
    if (kind < 0.74)
      return {
        do: 'withdraw',
        buyer,
        isDown: random() < 0.4,
        part: pick([1, 1, 0.5]),
      }
    if (kind < 0.79)
      return {
        do: 'reorg',
        // What counts as final is never replaced.
        depth: 1 + below(2),
        transactions: pick(['replayed', 'dropped']),
      }
    if (kind < 0.9)
      return {
        do: 'fail',
        process,
        kind: pick(switchedKinds),
        calls: 1 + below(4),
      }
    if (kind < 0.95) return { do: 'restart', process, isKilled: random() < 0.6 }
    return { do: 'warp', seconds: 1 + below(200) }
  }
  return Array.from({ length: count }, draw)
}

/** A process that runs, and what ends it. */
type Place = {
  process: SaleProcess
  faults: SwitchedFaults
  end: () => unknown
}

/** A shop, its buyers, and what the schedule allows to be lost. */
export type World = {
  sale: Sale
  places: Place[]
  buyers: Buyer[]
  /** Channels that were withdrawn from while no process ran. */
  mayLose: Set<Hex>
  /** Channels whose money went back, so that later deposits are needed. */
  returned: Set<Hex>
  /** Blocks before this one are never replaced. */
  firstBlock: bigint
  deposit: bigint
}

const deposit = 30_000n
const salt = (place: number): Hex => `0x${String(place).padStart(64, '0')}`

/** Schedules that fail before the others are not played any more. */
const mostFailed = 5

/** One schedule to play again, as a failure prints it. */
const again = process.env.COUNTERSIGN_STEPS

/**
 * Plays schedules one after another. Returns those that did not add up, at most
 * a few: the seed, which draws them again, the steps and what went wrong.
 */
export async function playSchedules(
  seed: number,
  { count, length }: { count: number; length: number },
): Promise<object[]> {
  const now = Date.now
  const failed: object[] = []
  let ahead = 0
  // The clock of clients and gate goes with the chain's, which is moved.
  Date.now = () => now() + ahead
  try {
    for (let place = 0; place < (again ? 1 : count); place++) {
      const steps: Step[] = again
        ? JSON.parse(again)
        : drawSteps(seed + place, length)
      const problems = await runSchedule(steps, (seconds) => {
        ahead += seconds * 1_000
      }).catch((error: unknown) => [String(error)])
      if (problems.length > 0)
        failed.push({
          seed: seed + place,
          steps: JSON.stringify(steps),
          problems,
        })
      if (failed.length === mostFailed) break
    }
    return failed
  } finally {
    Date.now = now
  }
}

/** @param shiftClock moves this machine's clock, in seconds. */
async function runSchedule(
  steps: readonly Step[],
  shiftClock: (seconds: number) => void,
): Promise<string[]> {
  const sale = openSale()
  const places = await Promise.all(
    Array.from({ length: processes }, () => openPlace(sale)),
  )
  const first = await ownBuyer(sale, { deposit, salt: salt(0) })
  const world: World = {
    sale,
    places,
    buyers: [
      first,
      await ownBuyer(sale, { deposit, salt: salt(1) }, first.account),
      await ownBuyer(sale, { deposit, salt: salt(0) }),
      await stockBuyer(sale),
    ],
    mayLose: new Set(),
    returned: new Set(),
    firstBlock: await getBlockNumber(chain.clients.public, { cacheTime: 0 }),
    deposit,
  }
  const warp = async (seconds: number) => {
    await chain.warp(seconds)
    shiftClock(seconds)
  }
  const problems: string[] = []
  try {
    for (const [at, step] of steps.entries()) {
      await play(world, step, warp).catch((error: unknown) => {
        problems.push(`step ${at} ${step.do}: ${String(error)}`)
      })
    }
    return [...problems, ...(await findLosses(world, warp))]
  } finally {
    for (const { end, faults } of places) {
      faults.clear()
      await end()
    }
  }
}

async function openPlace(sale: Sale): Promise<Place> {
  const faults = switchedFaults()
  const offer = { deposit: '0.03' }
  const process = await sale.open({ faults, offer, timeout: 3_000 })
  return { process, faults, end: process.run() }
}

async function play(
  world: World,
  step: Step,
  warp: (seconds: number) => Promise<void>,
): Promise<void> {
  const { sale, places } = world
  const placeOf = (at: number): Place => {
    const place = places[at % processes]
    if (!place) throw new Error('no process')
    return place
  }
  const route = (from: number) => (tries: number) =>
    placeOf(from + tries).process
  const buyer = 'buyer' in step ? world.buyers[step.buyer] : undefined
  switch (step.do) {
    case 'buy':
      await buyer?.buy(route(step.process), step.costs)
      return
    case 'burst':
      // Other requests of this buyer, and of the others, at the same time.
      await Promise.all([
        buyer?.buy(route(0)),
        ...world.buyers
          .filter((one) => one !== buyer)
          .slice(0, step.others)
          .map((one, at) => one.buy(route(at))),
        step.others === 3 && buyer?.buy(route(1)),
      ])
      return
    case 'refund':
      if (buyer?.id) world.returned.add(buyer.id)
      await buyer?.refund(route(step.process))
      return
    case 'payBack': {
      if (!buyer?.id) return
      world.returned.add(buyer.id)
      const given = { channelId: buyer.id, timeout: 2_000 }
      // What failed is on record, or is not.
      await placeOf(step.process)
        .process.channels.refund(given)
        .catch(() => undefined)
      return
    }
    case 'claim':
      await placeOf(step.process)
        .process.channels.claim({ timeout: 2_000 })
        .catch(() => undefined)
      return
    case 'withdraw':
      if (buyer?.id) await withdraw(world, buyer, step, warp)
      return
    case 'reorg': {
      const head = await getBlockNumber(chain.clients.public, { cacheTime: 0 })
      const depth = Math.min(step.depth, Number(head - world.firstBlock))
      const { transactions } = step
      if (depth > 0) await chain.reorg({ depth, transactions })
      return
    }
    case 'fail':
      placeOf(step.process).faults.next(step.kind, step.calls)
      return
    case 'restart': {
      const { process, end } = placeOf(step.process)
      if (step.isKilled) process.dying.die()
      await end()
      if (!step.isKilled) await process.orders.close()
      places[step.process] = await openPlace(sale)
      return
    }
    case 'warp':
      await untilDepositsStand(placeOf(0).process)
      return warp(step.seconds)
  }
}

/**
 * The payer takes its money: while no process runs, or else not before the shop
 * has claimed what it is owed.
 */
async function withdraw(
  { sale, places, mayLose, returned }: World,
  { account, id }: Buyer,
  { isDown, part }: { isDown: boolean; part: number },
  warp: (seconds: number) => Promise<void>,
): Promise<void> {
  if (!id || !places[0]) return
  for (const { faults } of places) faults.clear()
  const row = await rowOf(places[0].process, id)
  if (!row || row.balance === 0n) return
  const config = await configOf(places[0].process, account.address, id)
  const value = part === 1 ? row.balance : (row.balance + 1n) / 2n
  returned.add(id)
  await untilDepositsStand(places[0].process)
  if (isDown) {
    mayLose.add(id)
    for (const { process, end } of places) {
      await end()
      process.dying.die()
    }
  }
  // Refused where a withdrawal is announced already.
  await sendAs(account, initiateWithdrawCall({ config, value })).catch(
    () => undefined,
  )
  const channelId = id
  const { withdrawal } = await getChannel(chain.clients.public, { channelId })
  // What an earlier withdrawal took is owed for ever.
  if (!isDown && withdrawal && !mayLose.has(id))
    await untilClaimed(places[0].process, id)
  await warp(901)
  await sendAs(account, finalizeWithdrawCall({ config })).catch(() => undefined)
  if (isDown) for (const at of places.keys()) places[at] = await openPlace(sale)
}

async function untilClaimed(process: SaleProcess, id: Hex): Promise<void> {
  for (let looks = 0; looks < 200; looks++) {
    const row = await rowOf(process, id)
    if (row && row.unclaimed === 0n && row.withdrawal) return
    await wait(50)
  }
  throw new Error(`not claimed in time: ${id}`)
}

async function rowOf({ channels }: SaleProcess, channelId: Hex) {
  return channels.get({ channelId }).catch(() => undefined)
}

async function configOf({ answer }: SaleProcess, payer: Hex, id: Hex) {
  const offer = channelOfferOf(await answer(new Request(nextUrl())))
  for (const place of [0, 1]) {
    const made = channelOf(payer, offer, { salt: salt(place) })
    if (made.id === id) return parseChannelConfig(made.config)
  }
  throw new Error(`no terms of ${id}`)
}
