import { setTimeout as sleep } from 'node:timers/promises'
import { startDevChain } from 'countersign/devchain'
import type { OrderRecord, PaymentStore } from 'countersign/store'
import { erc20Abi } from 'viem'
import { getTransactionCount, readContract } from 'viem/actions'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { startDatabase } from '../../chain/support/database.js'
import { bundleWorker } from '../../kills/bundleWorker.js'
import { isFull } from '../../kills/killCases.js'
import { openStore } from '../../kills/openShop.js'
import type { Plan } from '../../kills/plan.js'
import { type Child, startChild } from '../../kills/runChild.js'
import { type Stage, setStage } from '../../kills/stage.js'
import { readLeases } from '../../kills/toldLeases.js'

const perRecipient = isFull ? 100 : 20

const [chain, database, worker] = await Promise.all([
  startDevChain({ blockTime: 0.3 }),
  startDatabase(),
  bundleWorker('worker'),
])
afterAll(async () => {
  worker.remove()
  await Promise.all([chain.stop(), database.stop()])
})

test.each([2, 4])(
  '%i processes capture every order once, one killed, one asleep past its lease, the database started anew',
  async (count) => {
    const postgres = await database.create(`workers${count}`)
    const stages: Stage[] = []
    for (const orders of [perRecipient, perRecipient, perRecipient])
      stages.push(
        await setStage(chain, {
          engine: { postgres, schema: 'shop' },
          account: 'local',
          lease: 1000,
          flow: 'work',
          orders,
        }),
      )
    const plan = joinPlans(stages)
    const start = (): Child => {
      const child = startChild(worker.file, plan)
      onTestFinished(() => {
        child.kill('SIGKILL')
      })
      return child
    }
    const children = Array.from({ length: count }, start)
    const store = openStore(plan.engine)
    const left = async () =>
      plan.orderIds.length - (await countCaptured(store, plan))

    const killed = await findHolder(`workers${count}`, children)
    killed.kill('SIGKILL')
    expect((await killed.ended).signal).toBe('SIGKILL')
    const others = [...children.filter((one) => one !== killed), start()]
    const asleep = await findHolder(`workers${count}`, others)
    asleep.kill('SIGSTOP')
    await sleep(1.5 * plan.policy.lease)
    await database.restart()
    expect(await left()).toBeGreaterThan(0)
    asleep.kill('SIGCONT')

    await until(async () => (await left()) === 0)
    await endAll(others)
    const orders = await store.read((tables) =>
      tables.orders.find({ ids: plan.orderIds }),
    )
    await store.close()
    expect(
      await Promise.all(stages.map((stage) => countsOf(stage, orders))),
    ).toEqual(
      stages.map(() => ({
        captured: perRecipient,
        overpaid: 0,
        mined: perRecipient,
        pending: perRecipient,
        paid: BigInt(perRecipient) * 1_250_000n,
      })),
    )
  },
  1_800_000,
)

/** One merchant with all the recipients. */
function joinPlans(stages: readonly Stage[]): Plan {
  const plans = stages.map(({ plan }) => plan)
  const [first] = plans
  if (!first) throw new Error('one at least')
  return {
    ...first,
    keys: plans.flatMap(({ keys }) => keys),
    orderIds: plans.flatMap(({ orderIds }) => orderIds),
    payments: [],
  }
}

async function countCaptured(
  store: PaymentStore,
  { orderIds }: Plan,
): Promise<number> {
  const orders = await store.read((tables) =>
    tables.orders.find({ ids: orderIds }),
  )
  return orders.filter(({ state }) => state === 'captured').length
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(100)
}

/** A process that works on a submitter now. */
async function findHolder(
  name: string,
  children: readonly Child[],
): Promise<Child> {
  for (;;) {
    const held = await database.ask(
      `select owner from shop.leases where key like 'submitter:%'
        and expires > extract(epoch from clock_timestamp()) * 1000`,
      name,
    )
    const owners = held.map(({ owner }) => String(owner))
    const holder = children.find((child) =>
      readLeases(child.lines()).some(({ owner }) => owners.includes(owner)),
    )
    if (holder) return holder
    await sleep(50)
  }
}

/** Told to stop, a worker ends by itself and without a word. */
async function endAll(children: readonly Child[]): Promise<void> {
  for (const child of children) child.kill('SIGTERM')
  for (const child of children) {
    const { code, problem } = await child.ended
    expect({ code, problem }).toEqual({ code: 0, problem: '' })
  }
}

/** What the record and the chain say about one recipient. */
async function countsOf(
  { plan, recipient: { address } }: Stage,
  orders: readonly OrderRecord[],
): Promise<Record<string, number | bigint>> {
  const own = orders.filter(({ id }) => plan.orderIds.includes(id))
  const client = chain.clients.public
  return {
    captured: own.filter(({ state }) => state === 'captured').length,
    overpaid: own.filter(({ overpaid }) => overpaid).length,
    mined: await getTransactionCount(client, { address }),
    pending: await getTransactionCount(client, {
      address,
      blockTag: 'pending',
    }),
    paid: await readContract(client, {
      address: plan.token,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [address],
    }),
  }
}
