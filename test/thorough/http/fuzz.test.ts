import { startDevChain } from 'countersign/devchain'
import fc from 'fast-check'
import { parseSignature } from 'viem'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isFull, seed } from '../../chain/support/chaos.js'
import { findSecretsIn, openEar } from '../../chain/support/httpFuzzChecks.js'
import {
  anyPlan,
  isRight,
  rightPlan,
} from '../../chain/support/httpFuzzPlans.js'
import type { Plan, SentBody } from '../../chain/support/httpFuzzRequests.js'
import { openWorld } from '../../chain/support/httpFuzzWorld.js'

const timeout = isFull ? 1_200_000 : 300_000
const times = isFull ? 10 : 1

const chain = await startDevChain({ blockTime: 0 })
const world = await openWorld(chain)
afterAll(async () => {
  await world.shop.orders.close()
  await chain.stop()
})

const printed: unknown[][] = []
beforeEach(() => {
  for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const)
    vi.spyOn(console, name).mockImplementation((...all) => {
      printed.push(all)
    })
})
afterEach(() => {
  vi.restoreAllMocks()
  expect(printed).toEqual([])
})

/** The same plan by someone nobody knows, where the one who asks is known. */
function byStranger(plan: Plan): Plan {
  if (!isRight(world, plan)) return plan
  const headers = plan.headers.filter(([name]) => name !== 'authorization')
  return { ...plan, headers }
}

/** Each plan is asked in turn, and the rest left out at the first surprise. */
async function askAll(
  plans: fc.Arbitrary<Plan>,
  numRuns: number,
  ask: (plan: Plan) => Promise<boolean>,
  from = 0,
): Promise<void> {
  let sent = 0
  while (sent < numRuns)
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        if (await ask(plan)) sent++
      }),
      { numRuns: Math.min(5_000, numRuns - sent), seed: seed + from + sent },
    )
}

/** Asks what is refused each time: nothing is written, and nothing told. */
async function askInVain(
  plans: fc.Arbitrary<Plan>,
  numRuns: number,
  isRefused: (status: number, plan: Plan) => boolean,
): Promise<void> {
  const ear = openEar(world)
  const before = await world.everything()
  let writes = world.writes()
  await askAll(plans, numRuns, async (plan) => {
    const answered = await ear.ask(plan)
    if (!answered) return false
    const { status } = answered
    if (!isRefused(status, plan)) throw new Error(`answered ${status}`)
    if (world.writes() !== writes) {
      const now = await world.everything()
      writes = world.writes()
      throw new Error(`written: ${now === before ? 'no order' : now}`)
    }
    return true
  })
  expect(await world.everything()).toBe(before)
  expect(ear.leaks()).toEqual([])
}

test(`35,000 requests without the right to it change nothing and learn nothing, from seed ${seed}`, {
  timeout,
}, async () => {
  const plans = anyPlan(world).map(byStranger)
  await askInVain(plans, 35_000 * times, (status, { path, method }) => {
    const isOpen =
      (status === 200 && path.startsWith('/openapi.json')) ||
      (status === 204 && method === 'OPTIONS')
    return status >= 400 || isOpen
  })
})

test('what no answer may hold would be found in it', () => {
  const [order] = world.known
  const { r } = parseSignature(order?.signed.signature ?? '0x')
  const encoded = Buffer.from(r.slice(2), 'hex').toString('base64')
  for (const secret of [order?.token, r, encoded])
    expect(findSecretsIn(world, `{"a":"${secret}"}`)).not.toEqual([])
  expect(findSecretsIn(world, '{"a":"0x00"}')).toEqual([])
})

/** What makes a request one that is not even looked into. */
const spoiled = fc.constantFrom<(plan: Plan) => Plan>(
  (plan) => withHeader(plan, 'origin', 'https://evil.test'),
  (plan) => withHeader(plan, 'origin', 'null'),
  (plan) => withHeader(plan, 'content-type', 'text/plain'),
  (plan) => withHeader(plan, 'content-type', ''),
  (plan) => withBody(plan, { kind: 'text', text: '{"a":' }),
  (plan) => withBody(plan, { kind: 'text', text: '{"unknown":1}' }),
  (plan) => withBody(plan, { kind: 'text', text: 'null' }),
  (plan) => withBody(plan, { kind: 'text', text: '[]' }),
  (plan) => withBody(plan, { kind: 'bytes', bytes: new Uint8Array([0xff]) }),
  (plan) =>
    withBody(plan, { kind: 'pieces', count: 2, size: 40_000, broken: false }),
  (plan) =>
    withBody(plan, { kind: 'pieces', count: 1, size: 10, broken: true }),
  (plan) => withHeader(plan, 'content-length', '65537'),
)

function withHeader(plan: Plan, name: string, value: string): Plan {
  const rest = plan.headers.filter(([other]) => other !== name)
  return { ...plan, headers: [...rest, [name, value]] }
}

function withBody(plan: Plan, body: SentBody): Plan {
  return { ...plan, body }
}

test(`5,000 requests by the right one that are none change nothing, from seed ${seed}`, {
  timeout,
}, async () => {
  const plans = fc
    .tuple(
      rightPlan(world, false).filter(({ method }) => method === 'POST'),
      spoiled,
    )
    .map(([plan, spoil]) => spoil(plan))
  await askInVain(plans, 5_000 * times, (status) =>
    [400, 403, 413, 415].includes(status),
  )
})

test(`10,000 requests with the right to it change nobody else’s orders, from seed ${seed}`, {
  timeout,
}, async () => {
  for (let round = 0; round < 10 * times; round++) {
    await world.renew()
    const ear = openEar(world)
    const others = await world.rows(['b', 'stranger'])
    await askAll(
      rightPlan(world),
      1_000,
      async (plan) => Boolean(await ear.ask(plan)),
      round * 1_000,
    )
    expect(await world.rows(['b', 'stranger'])).toBe(others)
    expect(ear.leaks()).toEqual([])
    expect(findSecretsIn(world, await world.everything())).toEqual([])
  }
})
