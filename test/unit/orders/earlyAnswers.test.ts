import { memoryStore, type OrderRecord } from 'countersign/store'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { noChanges, writeChanges } from '../../../src/orders/model/changes.js'
import { loadOrder } from '../../../src/orders/model/loadOrders.js'
import {
  isRelaying,
  rejectOrder,
  reopenOrder,
} from '../../../src/orders/model/rejectOrder.js'
import { settleOrder } from '../../../src/orders/model/settleOrder.js'
import type { StoredOrder } from '../../../src/orders/model/storedOrder.js'
import type { OrdersContext } from '../../../src/orders/model/types.js'
import { unsettleOrder } from '../../../src/orders/model/unsettleOrder.js'
import { endWork } from '../../../src/orders/submitter/endWork.js'
import { planRecord } from '../../../src/orders/submitter/recordSigned.js'
import { writeCaptureRequests } from '../../../src/orders/submitter/requestCaptures.js'
import { voidOrder } from '../../../src/orders/verbs/voidOrder.js'
import {
  findRefusal,
  writeCancel,
} from '../../../src/orders/verbs/writeCancel.js'
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

type Rows = Partial<Parameters<typeof writeChanges>[1]>

const writing =
  (plan: (found: StoredOrder, context: OrdersContext) => Rows): Step =>
  (context, tables, found) =>
    writeChanges(tables, { ...noChanges(), ...plan(found, context) }, at)

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
  send: writing((found, { now }) =>
    found.order.state === 'stored' && found.order.requested === 'capture'
      ? planRecord([{ stored: found, kind: 'capture' } as never], [], now())
      : {},
  ),
  'pending block': writing(({ order }) => {
    if (order.state !== 'capturing') return {}
    const early = order.early === 'reserved' ? 'answered' : order.early
    const shown = {
      finality: 'preconfirmed',
      settledHash: hash,
      early,
    } as const
    return { orders: [{ ...order, ...shown }] }
  }),
  'answer given': (context, tables) =>
    endWork(context, tables, ids, { isAnswered: true }),
  'handler failed': (context, tables) =>
    endWork(context, tables, ids, { isAnswered: false }),
  reject: writing((found, context) =>
    rejectOrder(found, {
      reason: 'simulationFailed',
      at,
      relays: isRelaying(context),
    }),
  ),
  reopen: writing((found, context) =>
    reopenOrder(found, { at, relays: isRelaying(context) }),
  ),
  void: (context) => voidOrder(context, { orderId: id }),
  cancel: async (context, tables, found) =>
    findRefusal(found) ?? writeCancel(context, tables, found),
  capture: writing((found) =>
    settleOrder(found, { kind: 'capture', proof }, at),
  ),
  canceled: writing((found) =>
    settleOrder(
      found,
      { kind: 'cancel', proof: { ...proof, kind: 'cancel' } },
      at,
    ),
  ),
  consumed: writing((found) =>
    settleOrder(found, { kind: 'consumed', ...spent }, at),
  ),
  expired: writing((found) =>
    ['captured', 'canceled', 'consumed'].includes(found.order.state)
      ? {}
      : settleOrder(
          found,
          { kind: 'expired', blockNumber: 9n, blockTime: 900n, final: false },
          at,
        ),
  ),
  reorganization: writing((found, { policy }) =>
    ['captured', 'canceled', 'consumed'].includes(found.order.state)
      ? unsettleOrder(found, { transactions: [], blockTime: 100n, at, policy })
      : {},
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
