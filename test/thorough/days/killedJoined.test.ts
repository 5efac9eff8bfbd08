// The first time, nothing was lost or charged twice,
// and each request that was sent again got the answer that was kept.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { exchangeKey } from '../../../src/x402/gate/exchanges.js'
import { fundedAccount } from '../../chain/support/desk.js'
import { bodyOf } from '../../chain/support/facilitatorShop.js'
import { findBookProblems } from '../../chain/support/hardTimes.js'
import { connectionString } from '../../chain/support/postgresStore.js'
import { sign402 } from '../../chain/support/stockFacilitator.js'
import {
  balanceOf,
  chain,
  price,
  signFor,
} from '../../chain/support/x402Desk.js'
import { bundleWorker } from '../../kills/bundleWorker.js'
import { type GatePlan, openServedGate } from '../../kills/gateStage.js'
import { openShop } from '../../kills/openShop.js'
import type { Engine, Kill } from '../../kills/plan.js'
import { type Child, portOf, startChild } from '../../kills/runChild.js'

const worker = await bundleWorker('gateWorker')
const folder = mkdtempSync(join(tmpdir(), 'countersign-joined-'))
afterAll(() => {
  worker.remove()
  rmSync(folder, { recursive: true, force: true })
})

let databases = 0
const engines: Readonly<Record<string, () => Engine>> = {
  SQLite: () => ({ sqlite: join(folder, `${++databases}.db`) }),
  PostgreSQL: () => ({
    postgres: connectionString,
    schema: `joined${++databases}`,
  }),
}

/** A seller nobody has seen before. */
async function planSeller(engine: Engine): Promise<GatePlan> {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  return {
    engine,
    account: 'local',
    url: chain.urls.http,
    token: chain.token,
    keys: [key],
    policy: { lease: 5_000 },
    runs: join(folder, `${address}.runs`),
  }
}

const sellerOf = ({ keys: [key] }: GatePlan): Address =>
  privateKeyToAccount(key ?? '0x').address

/** A request that pays, the same whenever it is sent. */
type Paid = {
  path: string
  payer: Address
  init: RequestInit
}

/** Half of them sell what may be worked for again. */
const together = 3

async function payGate(plan: GatePlan): Promise<Paid[]> {
  const { shop, answer } = openServedGate(plan)
  const paid: Paid[] = []
  for (const path of ['/work', '/repeat'])
    for (let made = 0; made < together; made++) {
      const payer = await fundedAccount(chain, 2n * price)
      const asked = await answer(new Request(`http://shop.example${path}`))
      const header = await signFor(payer, asked)
      const headers = { 'PAYMENT-SIGNATURE': header }
      paid.push({ path, payer: payer.address, init: { headers } })
    }
  await shop.orders.close()
  return paid
}

function payFacilitator(plan: GatePlan): Promise<Paid[]> {
  return Promise.all(
    Array.from({ length: 2 * together }, async () => {
      const payer = await fundedAccount(chain, 2n * price)
      const requirements = { amount: String(price) }
      const sent = await sign402(chain, payer, sellerOf(plan), { requirements })
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(sent)),
      }
      return { path: '/settle', payer: payer.address, init }
    }),
  )
}

type Answer = { status: number; body: string; receipt: string | null }

/** Nothing is answered when the process dies. */
async function send(
  port: number,
  { path, init }: Paid,
  headers: Record<string, string> = {},
): Promise<Answer | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    headers: { ...init.headers, ...headers },
  }).catch(() => undefined)
  const body = await response?.text().catch(() => undefined)
  if (!response || body === undefined) return undefined
  const receipt = response.headers.get('PAYMENT-RESPONSE')
  return { status: response.status, body, receipt }
}

/** Sends all at once; the work of the gate ends for all at once. */
const sendAll = (port: number, paid: readonly Paid[]) =>
  Promise.all(
    paid.map((one) => send(port, one, { together: String(2 * together) })),
  )

/** Sends again what waits for a process that may still live. */
async function retry(port: number, paid: Paid): Promise<Answer> {
  for (;;) {
    const answer = await send(port, paid)
    const isOver =
      answer &&
      answer.status !== 503 &&
      !answer.body.includes('settlement_pending')
    if (isOver) return answer
    await sleep(200)
  }
}

async function stop(child: Child): Promise<readonly string[]> {
  child.kill('SIGTERM')
  return (await child.ended).lines
}

type Scene = 'gate' | 'facilitator'

const pay: Record<Scene, (plan: GatePlan) => Promise<Paid[]>> = {
  gate: payGate,
  facilitator: payFacilitator,
}

/** The writes of a process that answers all of them. */
async function recordWrites(scene: Scene): Promise<readonly string[]> {
  const plan = await planSeller({ sqlite: join(folder, `${scene}.db`) })
  const paid = await pay[scene](plan)
  const child = startChild(worker.file, plan)
  const answers = await sendAll(await portOf(child), paid)
  for (const answer of answers)
    expect(answer).toMatchObject({
      status: 200,
      body: expect.stringMatching(/^goods for|"success":true/),
    })
  const points: string[] = JSON.parse((await stop(child)).at(-1) ?? '')
  return points.filter((point) => point.startsWith('write '))
}

const writes: Record<Scene, readonly string[]> = {
  gate: await recordWrites('gate'),
  facilitator: await recordWrites('facilitator'),
}

/** What became of a payment whose first process died. */
type Found = {
  paid: Paid
  /** True when the database had the answer, once that process was dead. */
  isKept: boolean
  /** To two more requests, as the first one was. */
  answers: readonly [Answer, Answer]
  /** Token units. */
  spent: bigint
  runs: number
}

/**
 * Has a process die that answers all of them, and another one answer again.
 * Returns nothing if it did not come to the write.
 */
async function dieAmong(
  scene: Scene,
  engine: Engine,
  kill: Extract<Kill, { point: string }>,
): Promise<{ found: Found[]; problems: string[] } | undefined> {
  const plan = await planSeller(engine)
  const paid = await pay[scene](plan)
  const dying = startChild(worker.file, { ...plan, kill })
  await sendAll(await portOf(dying), paid)
  if ((await stop(dying)).at(-1) !== `${kill.when} ${kill.point}`)
    return undefined
  const kept = await keptPayers(plan)
  const next = startChild(worker.file, plan)
  const port = await portOf(next)
  const again = await Promise.all(paid.map((one) => retry(port, one)))
  const onceMore = await Promise.all(paid.map((one) => retry(port, one)))
  await stop(next)
  const shop = openShop(plan)
  const { orders } = await shop.orders.list({ limit: 100 })
  const ran = existsSync(plan.runs)
    ? readFileSync(plan.runs, 'utf8').trim().split('\n')
    : []
  const found = await Promise.all(
    paid.map(async (one, at): Promise<Found> => {
      const first = again[at]
      const second = onceMore[at]
      const payer = one.payer.toLowerCase()
      const order = orders.find((order) => order.payer === payer)
      if (!first || !second) throw new Error('not answered')
      return {
        paid: one,
        isKept: kept.has(payer),
        answers: [first, second],
        spent: 2n * price - (await balanceOf(one.payer)),
        runs: ran.filter((id) => id === order?.id).length,
      }
    }),
  )
  const problems = await findBookProblems(chain, shop.orders)
  if (!(await shop.orders.audit()).ok) problems.push('the audit disagrees')
  await shop.orders.close()
  return { found, problems }
}

/** The payers whose answers the database has. */
async function keptPayers(plan: GatePlan): Promise<ReadonlySet<string>> {
  const { orders, store } = openShop(plan)
  const { orders: all } = await orders.list({ limit: 100 })
  const keys = all.map(({ id }) => exchangeKey(id))
  const notes = await store.read((tables) => tables.notes.find({ keys }))
  await orders.close()
  const done = new Set(
    notes.filter(({ data }) => data.step === 'done').map(({ key }) => key),
  )
  const kept = all.filter(({ id }) => done.has(exchangeKey(id)))
  return new Set(kept.map(({ payer }) => String(payer)))
}

/** Each death in the first write of a kind. */
const cases = (scene: Scene, tables: RegExp, names: readonly string[]) =>
  names.flatMap((engine) =>
    writes[scene]
      .filter((point) => tables.test(point) && point.endsWith('#1'))
      .flatMap((point) =>
        (['before', 'after'] as const).map((when) => ({ engine, point, when })),
      ),
  )

async function dieOnce(
  scene: Scene,
  {
    engine,
    ...kill
  }: { engine: string; point: string; when: 'before' | 'after' },
) {
  for (let tries = 0; tries < 5; tries++) {
    const open = engines[engine]
    const died = open && (await dieAmong(scene, open(), kill))
    if (died) return died
  }
  throw new Error(`came to no ${kill.point}`)
}

test.each(cases('gate', /notes orders transactions/, ['SQLite', 'PostgreSQL']))(
  'killed $when $point in $engine, a gate has charged once for each answer that is kept, and for no other',
  async (kill) => {
    const { found, problems } = await dieOnce('gate', kill)
    for (const { paid, isKept, answers, spent, runs } of found) {
      const [first, second] = answers
      expect(second).toEqual(first)
      const isSold = isKept || paid.path === '/repeat'
      expect({ status: first.status, spent, runs }).toEqual({
        status: isSold ? 200 : 402,
        spent: isSold ? price : 0n,
        runs: paid.path === '/repeat' && !isKept ? 2 : 1,
      })
    }
    expect(problems).toEqual([])
    expect(found.some(({ isKept }) => isKept)).toBe(kill.when === 'after')
  },
)

test.each([
  ...cases('facilitator', /orders|notes/, ['SQLite']),
  ...cases('facilitator', /accepted|capturing/, ['PostgreSQL']),
])(
  'killed $when $point in $engine, a facilitator settles each body in one transfer',
  async (kill) => {
    const { found, problems } = await dieOnce('facilitator', kill)
    for (const { answers, spent } of found) {
      const [first, second] = answers.map(({ body }) => JSON.parse(body))
      expect({ ...first, spent }).toMatchObject({
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        spent: price,
      })
      expect(second).toMatchObject({
        success: false,
        errorReason: 'invalid_exact_evm_nonce_already_used',
        transaction: first.transaction,
      })
    }
    expect(problems).toEqual([])
  },
)
