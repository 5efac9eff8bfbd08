import {
  memoryStore,
  type OrderRecord,
  type OrderState,
} from 'countersign/store'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { OrdersContext } from '../../../src/orders/context/types.js'
import { apply, type Input } from '../../../src/orders/model/apply.js'
import { writeChanges } from '../../../src/orders/model/changes.js'
import { loadOrder } from '../../../src/orders/model/loadOrders.js'
import type { StoredOrder } from '../../../src/orders/model/storedOrder.js'
import { writeCaptureRequests } from '../../../src/orders/sending/requestCaptures.js'
import { endWork } from '../../../src/orders/verbs/endWork.js'
import { voidOrder } from '../../../src/orders/verbs/voidOrder.js'
import { writeCancel } from '../../../src/orders/verbs/writeCancel.js'
import { runs } from '../support/arbitraries.js'
import { contextOver } from '../support/contextOver.js'
import { proofAt, word } from '../support/settlingRows.js'
import { storedAttempt, storedOrder } from '../support/storedOrder.js'

const { id, chainId, token, recipient } = storedOrder
const ids = [id]
const hash = word('a')
const at = 7n

type Tables = Parameters<Parameters<OrdersContext['store']['write']>[0]>[0]
type Step = (
  context: OrdersContext,
  tables: Tables,
  found: StoredOrder,
) => Promise<unknown>

const happens =
  (input: Input): Step =>
  (context, tables, found) => {
    const rules = { at, policy: context.policy }
    return writeChanges(tables, apply(found, input, rules), at)
  }

/** What the chain can show only after another state. */
const onlyIn =
  (states: readonly OrderState[], step: Step): Step =>
  async (context, tables, found) =>
    states.includes(found.order.state) && step(context, tables, found)

const decided = ['captured', 'canceled', 'consumed'] as const
const undecided = [
  'drafted',
  'stored',
  'capturing',
  'canceling',
  'voided',
  'expired',
] as const

const request =
  (as: 'reserved' | 'working' | undefined): Step =>
  (context, tables) =>
    writeCaptureRequests(context, tables, ids, {
      early: new Map(as && [[id, { upTo: '1', as }]]),
    })

const { version: _, ...proof } = proofAt(hash, 9n, {
  chainId,
  token,
  recipient,
})
const spent = { transactionHash: hash, blockNumber: 9n }

/** What the pending block, a handler, a buyer, a merchant or the chain does. */
const steps = {
  'request an early answer': request('reserved'),
  'request work before an answer': request('working'),
  'request a late answer': request(undefined),
  send: async (context, tables, found) =>
    found.order.requested === 'capture' &&
    happens({ kind: 'recorded', call: 'capture' })(context, tables, found),
  'pending block': happens({ kind: 'preconfirmed', hash }),
  'answer given': (context, tables) =>
    endWork(context, tables, ids, { isAnswered: true }),
  'handler failed': (context, tables) =>
    endWork(context, tables, ids, { isAnswered: false }),
  reject: happens({ kind: 'refused', reason: 'simulationFailed' }),
  reopen: happens({ kind: 'freed' }),
  void: (context) => voidOrder(context, { orderId: id }),
  cancel: (context, tables, found) =>
    writeCancel(context, tables, found, 'sealed'),
  capture: happens({ kind: 'capture', proof }),
  canceled: happens({ kind: 'cancel', proof: { ...proof, kind: 'cancel' } }),
  consumed: happens({ kind: 'consumed', ...spent }),
  expired: onlyIn(
    undecided,
    happens({
      kind: 'expired',
      blockNumber: 9n,
      blockTime: 900n,
      final: false,
    }),
  ),
  reorganization: onlyIn(
    decided,
    happens({ kind: 'gone', transactions: [], blockTime: 100n }),
  ),
} satisfies Record<string, Step>

type Name = keyof typeof steps
const names = Object.keys(steps) as Name[]

/** Most drawn sequences would never get as far as an answer by themselves. */
const beginnings: Name[][] = [
  [],
  ['request an early answer'],
  ['request an early answer', 'send', 'pending block'],
  ['request work before an answer', 'send', 'pending block'],
]

const isOpen = ({ state, requested }: OrderRecord): boolean =>
  ['capturing', 'canceling', 'drafted'].includes(state) ||
  (state === 'stored' && requested === 'capture')

/** An order on record, to which steps happen. */
async function openOrder(relays: boolean) {
  const context = contextOver(memoryStore(), {
    mostAtRisk: { total: '1' },
    relayCancellations: relays ? 'always' : 'onApproval',
  })
  const { version, position, ...order } = storedOrder
  const { version: first, ...attempt } = storedAttempt
  await context.store.write(async (tables) => {
    await tables.orders.insert([{ ...order, sendDue: undefined }])
    await tables.attempts.insert([attempt])
  })
  const load = () =>
    context.store.read((tables) => loadOrder(tables, context, id))
  return {
    load: async () => (await load()).order,
    take: async (name: Name) => {
      const step: Step = steps[name]
      // `void` opens a transaction of its own.
      if (name === 'void') return step(context, {} as never, await load())
      return context.store.write(async (tables) =>
        step(context, tables, await loadOrder(tables, context, id)),
      )
    },
    read: () =>
      context.store.read(async (tables) => ({
        atRisk: await tables.orders.findEarly({
          chainId,
          token,
          early: ['reserved', 'working', 'answered'],
        }),
        told: (await tables.events.find({ orderIds: ids })).filter(
          ({ type }) => type === 'servedUnpaid',
        ).length,
      })),
  }
}

test('whatever happens to an order, an answer that nobody got is released and one that was served unpaid is reported, each when it becomes true', async () => {
  const seen = { released: 0, told: 0, paid: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...beginnings),
      fc.array(fc.constantFrom(...names), { maxLength: 12 }),
      fc.boolean(),
      async (beginning, drawn, relays) => {
        const it = await openOrder(relays)
        /** The handler began when only the pending block had the capture. */
        let isWorking = false
        /** The buyer has an answer, and no block has had the capture since. */
        let isServed = false
        let told = 0
        for (const name of [...beginning, ...drawn]) {
          const before = await it.load()
          if (name === 'answer given' && !isWorking) continue
          await it.take(name)
          const after = await it.load()
          const isShown =
            name === 'pending block' && before.state === 'capturing'
          if (isShown && before.early === 'working') isWorking = true
          if (isShown && before.early === 'reserved') isServed = true
          if (name === 'answer given' && after.state !== 'captured')
            isServed = true
          if (name === 'answer given' || name === 'handler failed')
            isWorking = false
          if (after.state === 'captured') {
            if (isServed && after.early === 'paid') seen.paid++
            isServed &&= after.early === 'paid'
          }
          const isLoss =
            isServed &&
            !isOpen(after) &&
            after.state !== 'captured' &&
            before.early !== 'unpaid'
          if (isLoss) told++
          const now = await it.read()
          expect([name, now.told]).toEqual([name, told])
          if (!isOpen(after)) expect([name, now.atRisk]).toEqual([name, []])
          if (isServed && !isOpen(after) && after.state !== 'captured')
            expect([name, after.early]).toEqual([name, 'unpaid'])
          if (!isServed)
            expect([name, after.early]).not.toEqual([name, 'unpaid'])
          if (before.early === 'reserved' && after.early === undefined)
            seen.released++
        }
        seen.told += told
      },
    ),
    runs(1_000),
  )
  expect(seen).toSatisfy(({ released, told, paid }: typeof seen) =>
    [released, told, paid].every((count) => count > 10),
  )
})
