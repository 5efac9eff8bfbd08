// The first time, each change was made as a whole or
// not at all, and the same call after it made it whole.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import { type Address, getAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../chain/support/desk.js'
import { findBookProblems } from '../../chain/support/hardTimes.js'
import { connectionString } from '../../chain/support/postgresStore.js'
import { mineBlocks } from '../../chain/support/watching.js'
import { bundleWorker } from '../../kills/bundleWorker.js'
import { openShop, type Shop } from '../../kills/openShop.js'
import type { Engine, Kill, Plan } from '../../kills/plan.js'
import { startChild } from '../../kills/runChild.js'
import { acceptPayment, signDraft } from '../../kills/stage.js'
import { drawAddress } from '../../storeCases/samples.js'

const [chain, worker] = await Promise.all([
  startDevChain({ blockTime: 0, epochBlocks: 4 }),
  bundleWorker('worker'),
])
const folder = mkdtempSync(join(tmpdir(), 'countersign-changes-'))
afterAll(async () => {
  worker.remove()
  rmSync(folder, { recursive: true, force: true })
  await chain.stop()
})

let databases = 0
const engines: Readonly<Record<string, () => Engine>> = {
  SQLite: () => ({ sqlite: join(folder, `${++databases}.db`) }),
  PostgreSQL: () => ({
    postgres: connectionString,
    schema: `changes${++databases}`,
  }),
}

type Scene = { plan: Plan; leaving: Address; coming: Address }

/** A shop that is about to give up one recipient for another. */
async function setScene(engine: Engine): Promise<Scene> {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  const [leaving, coming] = [drawAddress(), drawAddress()].map((one) =>
    getAddress(one),
  )
  if (!leaving || !coming) throw new Error('two recipients')
  const plan: Plan = {
    flow: 'changeRecipients',
    engine,
    account: 'local',
    url: chain.urls.http,
    token: chain.token,
    keys: [key],
    policy: { lease: 5_000, capture: 'onAccept' },
    shop: 'killed',
    recipients: [leaving],
    orderIds: [],
    payments: [],
    cancellations: [],
    change: { add: [coming], remove: [leaving] },
  }
  const shop = openShop(plan)
  await shop.orders.list()
  await shop.orders.close()
  return { plan, leaving, coming }
}

/** An order that a new buyer paid. */
async function sell(shop: Shop, recipient: Address): Promise<string> {
  const payer = await fundedAccount(chain, 1_250_000n)
  const drafted = await shop.orders.draft({
    amount: '1.25',
    recipient,
    payer: payer.address,
    primaryType: 'TransferWithAuthorization',
  })
  await acceptPayment(shop, drafted.order.id, await signDraft(payer, drafted))
  return drafted.order.id
}

const sells = (shop: Shop, recipient: Address): Promise<boolean> =>
  sell(shop, recipient).then(
    () => true,
    ({ name, details }: { name: string; details: unknown }) => {
      expect({ name, details }).toMatchObject({
        name: 'InvalidFieldError',
        details: { field: 'recipient' },
      })
      return false
    },
  )

async function recordPoints(): Promise<string[]> {
  const { plan } = await setScene({ sqlite: join(folder, 'recorded.db') })
  const { lines } = await startChild(worker.file, plan).ended
  const told: { points: string[] } = JSON.parse(lines.at(-1) ?? '')
  return told.points
}

const points = await recordPoints()
const changing = points.find((point) => point.includes('recipients')) ?? ''

const cases = Object.keys(engines).flatMap((engine) =>
  points
    .filter((point) => engine === 'SQLite' || point === changing)
    .flatMap((point) =>
      (['before', 'after'] as const).map((when) => ({ engine, point, when })),
    ),
)

test.each(cases)(
  'killed $when $point in $engine, a change of recipients is made as a whole or not at all, and paid orders are captured',
  async ({ engine, ...kill }) => {
    const { plan, leaving, coming } = await setScene(
      engines[engine]?.() as Engine,
    )
    // A worker of another process that lives on.
    const shop = openShop(plan)
    const stop = new AbortController()
    const running = shop.orders.run({ signal: stop.signal })
    const paid = [await sell(shop, leaving)]
    const { signal, lines } = await startChild(worker.file, {
      ...plan,
      kill: kill satisfies Kill,
    }).ended
    expect({ signal, last: lines.at(-1) }).toEqual({
      signal: 'SIGKILL',
      last: `${kill.when} ${kill.point}`,
    })
    const next = openShop(plan)
    const isChanged = isMade(kill)
    expect(await sells(next, coming)).toBe(isChanged)
    expect(await sells(next, leaving)).toBe(!isChanged)
    // Whoever wanted the change asks for it again.
    await next.orders.changeRecipients(plan.change ?? {})
    expect(await sells(next, leaving)).toBe(false)
    paid.push(await sell(shop, coming))
    await expect
      .poll(async () => {
        await mineBlocks(chain, 1)
        const { orders } = await shop.orders.list({ limit: 100 })
        return orders
          .filter(({ state }) => state !== 'captured')
          .map(({ id, state }) => `${id} ${state}`)
      })
      .toEqual([])
    stop.abort()
    await running
    expect((await next.orders.audit()).ok).toBe(true)
    expect(await findBookProblems(chain, next.orders)).toEqual([])
    await next.orders.close()
    await shop.orders.close()
  },
)

/** True once the write that changes the recipients was committed. */
function isMade({ point, when }: { point: string; when: string }): boolean {
  const [at, change] = [points.indexOf(point), points.indexOf(changing)]
  return at > change || (at === change && when === 'after')
}
