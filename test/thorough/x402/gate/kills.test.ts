import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { type Address, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { readContract } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../../chain/support/desk.js'
import { chain, price, signFor } from '../../../chain/support/x402Desk.js'
import { bundleWorker } from '../../../kills/bundleWorker.js'
import { isFull } from '../../../kills/killCases.js'
import { openShop } from '../../../kills/openShop.js'
import type { Kill } from '../../../kills/plan.js'
import { startChild } from '../../../kills/runChild.js'
import { endLeases } from '../../../kills/runKill.js'
import {
  openKilledGate,
  type X402Plan,
  type X402Told,
} from '../../../kills/x402Stage.js'

const worker = await bundleWorker('x402Worker')
afterAll(() => worker.remove())

/** A chain whose blocks come many ticks after what they hold was shown. */
const slow = await startDevChain({
  token: 'usdc',
  preconfirmations: 'flashblocks',
  blockTime: 2,
  tick: 100,
})
afterAll(() => slow.stop())

type Scene = Pick<X402Plan, 'flow' | 'repeatable' | 'isEarly'>
type PointKill = Extract<Kill, { point: string }>

/** What became of one payment, after its process died and two more came. */
type Found = {
  answers: readonly X402Told[]
  points: readonly string[]
  runs: readonly string[]
  paid: bigint
  events: readonly string[]
  state: string
  /** Token units that are at risk, and that were lost. */
  atRisk: bigint
  servedUnpaid: bigint
  problem?: string | undefined
  /** True when the process ended normally, without reaching the kill. */
  isWhole: boolean
}

/**
 * Runs the case three times without a kill. Returns the outcome, and the points
 * that all three runs reach: the name of a point depends on which requests a
 * poll sends together.
 */
async function runWhole(scene: Scene): Promise<Found> {
  const [first, ...others] = [
    await runCase(scene, undefined),
    await runCase(scene, undefined),
    await runCase(scene, undefined),
  ]
  const points = first.points.filter((point) =>
    others.every((other) => other.points.includes(point)),
  )
  return { ...first, points }
}

/**
 * Runs a case up to five times until its kill is reached, because a run may
 * miss a point that others reach.
 */
async function runKilled(scene: Scene, kill: PointKill): Promise<Found> {
  let found = await runCase(scene, kill)
  for (let tries = 1; found.isWhole && tries < 5; tries++)
    found = await runCase(scene, kill)
  return found
}

/** A payment whose process dies, and is then sent twice more as it was. */
async function runCase(
  scene: Scene,
  kill: PointKill | undefined,
): Promise<Found> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-x402-'))
  try {
    const on = scene.isEarly ? slow : chain
    const key = generatePrivateKey()
    const { address } = privateKeyToAccount(key)
    await on.clients.test.setBalance({ address, value: 10n ** 18n })
    const plan: X402Plan = {
      ...scene,
      engine: { sqlite: join(folder, 'orders.db') },
      account: 'local',
      url: on.urls.http,
      token: on.token,
      keys: [key],
      policy: {
        lease: 10_000,
        ...(scene.isEarly ? { mostAtRisk: { total: '0.01' } } : {}),
      },
      header: '',
      runs: join(folder, 'runs'),
    }
    const payer = await fundedAccount(on, 10n * price)
    const paying = { ...plan, header: await askPrice(plan, payer) }
    const died = await startChild(worker.file, { ...paying, kill }).ended
    const where = kill && `${kill.when} ${kill.point}`
    const problem =
      where && died.lines.at(-1) !== where
        ? `died at ${died.lines.at(-1)} ${died.problem}`
        : undefined
    await endLeases(plan.engine, died.lines)
    const answers: X402Told[] = []
    for (const _ of ['again', 'once more'])
      answers.push(toldBy(await startChild(worker.file, paying).ended))
    const shop = openShop(plan)
    const [found] = (await shop.orders.list()).orders
    // An answer that came before its block is paid by that block.
    if (scene.isEarly && found?.state === 'capturing')
      await shop.orders.capture({ orderId: found.id })
    const [order] = (await shop.orders.list()).orders
    const { destinations } = await shop.orders.health()
    const { events } = await shop.orders.events({ limit: 100 })
    await shop.orders.close()
    return {
      answers,
      points: kill ? [] : toldBy(died).points,
      runs: existsSync(plan.runs)
        ? readFileSync(plan.runs, 'utf8').trim().split('\n')
        : [],
      paid: await balanceOn(on, address),
      events: events.map(({ type }) => type),
      state: order?.state ?? 'none',
      atRisk: destinations[0]?.atRisk ?? -1n,
      servedUnpaid: destinations[0]?.servedUnpaid ?? -1n,
      problem,
      isWhole: died.lines.at(-1)?.startsWith('{') === true,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const balanceOn = (on: DevChain, address: Address): Promise<bigint> =>
  readContract(on.clients.public, {
    address: on.token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [address],
  })

type Ended = Awaited<ReturnType<typeof startChild>['ended']>

function toldBy({ lines, problem }: Ended): X402Told {
  const last = lines.at(-1) ?? ''
  if (!last.startsWith('{')) throw new Error(`told ${last}: ${problem}`)
  return JSON.parse(last)
}

async function askPrice(
  plan: X402Plan,
  payer: Awaited<ReturnType<typeof fundedAccount>>,
): Promise<string> {
  const shop = openShop(plan)
  const ask = openKilledGate(shop, plan, async () => {})
  const header = await signFor(payer, await ask(''))
  await shop.orders.close()
  return header
}

/**
 * True while nobody can know whether the handler ran: from the claim on, until
 * its answer is kept.
 */
function isInWork(points: readonly string[], kill: PointKill): boolean {
  const at = points.indexOf(kill.point)
  const handler = points.indexOf('handler#1')
  const notes = points.flatMap((point, index) =>
    /^write .*\bnotes\b/.test(point) ? [index] : [],
  )
  const claim = notes.filter((index) => index < handler).at(-1) ?? -1
  const keep = notes.find((index) => index > handler) ?? points.length
  if (at === claim) return kill.when === 'after'
  if (at === keep) return kill.when === 'before'
  return at > claim && at < keep
}

const killsAt = (points: readonly string[]): PointKill[] =>
  points.flatMap((point) => [
    { point, when: 'before' as const },
    { point, when: 'after' as const },
  ])

/** A spread over all points in the ordinary run, all of them in the full one. */
const spreadOf = (kills: readonly PointKill[]): PointKill[] =>
  kills.filter((_, index) => isFull || index % 3 === 0)

/** All cases, two at a time; what is wrong with each. */
async function judgeAll(
  kills: readonly PointKill[],
  judge: (kill: PointKill) => Promise<string[]>,
): Promise<string[]> {
  const left = [...kills]
  const problems: string[] = []
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift())
      for (const problem of await judge(next))
        problems.push(`${next.when} ${next.point}: ${problem}`)
  }
  await Promise.all([work(), work()])
  return problems
}

/** Nothing stays at risk once a block has the capture, and nothing is lost. */
const checkRisk = ({ atRisk, servedUnpaid }: Found): string[] =>
  atRisk === 0n && servedUnpaid === 0n
    ? []
    : [`has ${atRisk} at risk and ${servedUnpaid} lost`]

/** Paid once, worked for once, and both answers the same. */
function checkPaid(found: Found, mostRuns = 1): string[] {
  const { answers, runs, paid, problem, state } = found
  const [first, second] = answers
  return [
    ...(problem ? [problem] : []),
    ...(first?.status === 200 && first.body === 'the goods'
      ? []
      : [`answered ${first?.status} ${first?.body}`]),
    ...(first?.settled && first.settled === second?.settled
      ? []
      : ['another receipt the second time']),
    ...(paid === price ? [] : [`was paid ${paid}`]),
    ...(state === 'captured' ? [] : [`is ${state}`]),
    ...(runs.length >= 1 && runs.length <= mostRuns
      ? []
      : [`ran ${runs.length} times`]),
    ...(new Set(runs).size === 1 ? [] : ['ran for several orders']),
    ...checkRisk(found),
  ]
}

test.each([
  ['authorization', 'once a block has it', false],
  ['upfront', 'once a block has it', false],
  ['authorization', 'before a block has it', true],
  ['upfront', 'before a block has it', true],
] as const)(
  'dying anywhere before its answer, a payment of the flow %s that is answered %s is settled once and worked for once',
  async (flow, _, isEarly) => {
    const scene = { flow, repeatable: false, isEarly }
    const { points, events } = await runWhole(scene)
    expect(points).toContain('handler#1')
    expect(events.includes('preconfirmed')).toBe(isEarly)
    const problems = await judgeAll(spreadOf(killsAt(points)), async (kill) => {
      const found = await runKilled(scene, kill)
      const interrupted = checkInterrupted(found, flow)
      // The submitter gives its lease back beside the handler, before or after.
      if (kill.point.startsWith('releaseLease') && interrupted.length === 0)
        return []
      return isInWork(points, kill) ? interrupted : checkPaid(found)
    })
    expect(problems).toEqual([])
  },
  1_800_000,
)

/** Nobody knows whether the work was done: it is not done again. */
function checkInterrupted(found: Found, flow: X402Plan['flow']): string[] {
  const { answers, runs, paid, problem, state, events } = found
  const statuses = answers.map(({ status }) => status).join()
  const isUpfront = flow === 'upfront'
  const expected = isUpfront ? '500,500' : '402,402'
  const refunds = events.filter((type) => type === 'refundDue').length
  return [
    ...(problem ? [problem] : []),
    ...(statuses === expected ? [] : [`answered ${statuses}`]),
    ...(runs.length <= 1 ? [] : [`ran ${runs.length} times`]),
    ...(paid === (isUpfront ? price : 0n) ? [] : [`was paid ${paid}`]),
    ...(state === (isUpfront ? 'captured' : 'voided') ? [] : [`is ${state}`]),
    ...(refunds === (isUpfront ? 1 : 0) ? [] : [`${refunds} refunds`]),
    ...checkRisk(found),
  ]
}

test.each(['authorization', 'upfront'] as const)(
  'a handler of the flow %s that may repeat is told the same order when a process died in it',
  async (flow) => {
    const scene = { flow, repeatable: true }
    const { points } = await runWhole(scene)
    const inWork = killsAt(points).filter((kill) => isInWork(points, kill))
    expect(inWork.length).toBeGreaterThan(2)
    const problems = await judgeAll(inWork, async (kill) =>
      checkPaid(await runKilled(scene, kill), 2),
    )
    expect(problems).toEqual([])
  },
  1_800_000,
)
