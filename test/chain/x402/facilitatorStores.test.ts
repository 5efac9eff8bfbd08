import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { pendingSettlementStore } from 'countersign/x402'
import { afterAll, expect, test } from 'vitest'
import { contextOf } from '../../../src/orders/contextOf.js'
import {
  markAnswered,
  settleKey,
} from '../../../src/x402/facilitator/ownedPayment.js'
import { orderIdOf } from '../../../src/x402/wire/orderIdOf.js'
import { fundedAccount } from '../support/desk.js'
import {
  bodyOf,
  openFacilitator,
  transfersTo,
} from '../support/facilitatorShop.js'
import { connectionString, openStore } from '../support/postgresStore.js'
import {
  openStock,
  paymentOf,
  sign402,
  startFacilitatorChain,
  termsOf,
} from '../support/stockFacilitator.js'

const chain = await startFacilitatorChain()
const folder = mkdtempSync(join(tmpdir(), 'countersign-x402-'))
afterAll(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true, force: true })
})

let files = 0

/** Opens the same database as often as it is called. */
const engines = {
  memory: () => {
    const store = memoryStore({ volatile: true })
    return () => store
  },
  SQLite: () => {
    const file = join(folder, `${files++}.db`)
    return () => sqliteStore({ file })
  },
  PostgreSQL: () => {
    const schema = `facilitator${files++}`
    return () => openStore({ connectionString, schema })
  },
} satisfies Record<string, () => () => PaymentStore>

const names = ['memory', 'SQLite', 'PostgreSQL'] as const
const used = 'invalid_exact_evm_nonce_already_used'
const deadline = 'invalid_exact_evm_payload_authorization_valid_before'

/** Two facilitators over one database, as two processes have them. */
async function openTwo(
  engine: keyof typeof engines,
  callers: Parameters<typeof openFacilitator>[1] = {},
) {
  const open = engines[engine]()
  const sellers = [await fundedAccount(chain)]
  const one = await openFacilitator(chain, {
    ...callers,
    orders: { store: open(), sellers },
  })
  const two = await openFacilitator(chain, {
    ...callers,
    orders: { store: open(), sellers },
  })
  const close = async () => {
    await one.orders.close()
    await two.orders.close()
  }
  return { one, two, close }
}

test.each(names)('in %s, one of two instances says success', async (engine) => {
  const { one, two, close } = await openTwo(engine)
  for (let times = 0; times < 3; times++) {
    const sent = await one.pay()
    const answers = await Promise.all(
      [one, two, one, two].map((shop) => shop.settle(sent)),
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1)
    for (const shop of [one, two]) {
      expect(await shop.settle(sent)).toMatchObject({ errorReason: used })
      expect(await shop.verify(sent)).toMatchObject({ isValid: false })
    }
    expect(await transfersTo(chain, one.seller)).toBe(times + 1)
  }
  await close()
})

test.each(names)(
  'in %s, one of several marks says that a payment is answered, and none without the lease',
  async (engine) => {
    const { one, two, close } = await openTwo(engine)
    const { payer: _, ...sent } = await one.pay()
    const leaving = new AbortController()
    leaving.abort()
    await one.ask('settle', bodyOf(sent), 'one', leaving.signal)
    await two.verify(sent)
    const orderId = orderIdOf(paymentOf(chain, sent))
    const { context } = contextOf(two.orders)
    const take = (owner: string, milliseconds: number) =>
      context.store.takeLease({
        key: settleKey(orderId),
        owner,
        milliseconds,
      })
    const lost = await take('lost', 1)
    await expect.poll(() => take('held', 600_000)).toBeDefined()
    const lease = await take('held', 600_000)
    if (!lost || !lease) throw new Error('no lease')
    const mark = (under: typeof lease) =>
      markAnswered(context, orderId, {
        lease: under,
        settle: async () => undefined,
      })
    await expect(mark(lost)).rejects.toThrow('lease')
    const marks = await Promise.all([mark(lease), mark(lease), mark(lease)])
    expect(marks.filter(Boolean)).toHaveLength(1)
    await context.store.releaseLease(lease)
    expect(await one.settle(sent)).toMatchObject({ errorReason: used })
    await close()
  },
)

test.each(names)(
  'in %s, two instances share the gas budget of a caller',
  async (engine) => {
    const { one, two, close } = await openTwo(engine, {
      callers: {
        one: { name: 'one', gasPerDay: 700_000n },
        two: { name: 'two' },
      },
    })
    const sent = await Promise.all([one.pay(), one.pay(), one.pay()])
    const answers = await Promise.all(
      sent.map((each, index) => (index % 2 ? one : two).settle(each)),
    )
    // Each in flight counts 300,000, so that two have room.
    const refused = answers.filter(({ success }) => !success)
    expect(refused.map(({ errorReason }) => errorReason)).toEqual([
      'gas_budget_exceeded',
    ])
    // Captured, they count what they used.
    const counts = { settled: 2 }
    for (;;) {
      const next = await one.pay()
      const { isValid, invalidReason } = await two.verify(next)
      const { success, errorReason } = await one.settle(next)
      expect(success).toBe(isValid)
      if (!success) {
        expect([invalidReason, errorReason]).toEqual([
          'gas_budget_exceeded',
          'gas_budget_exceeded',
        ])
        break
      }
      counts.settled++
    }
    expect(counts.settled).toBeGreaterThan(3)
    expect(counts.settled).toBeLessThan(8)
    expect(await one.settle(await one.pay(), 'two')).toMatchObject({
      success: true,
    })
    expect(await transfersTo(chain, one.seller)).toBe(counts.settled + 1)
    await close()
  },
)

test.each(names)(
  'in %s, a refused payment gives its gas back',
  async (engine) => {
    const { one, close } = await openTwo(engine, {
      callers: { one: { name: 'one', gasPerDay: 300_000n } },
    })
    for (let times = 0; times < 3; times++)
      expect(
        await one.settle(
          await one.pay({ authorization: { validBefore: '1' } }),
        ),
      ).toMatchObject({ errorReason: deadline })
    expect(await one.settle(await one.pay())).toMatchObject({ success: true })
    await close()
  },
)

test.each(names)(
  'in %s, pending settlements are kept, by no signature',
  async (engine) => {
    const open = engines[engine]()
    const [store, other] = [open(), open()]
    const [one, two] = [store, other].map(pendingSettlementStore)
    if (!one || !two) throw new Error('two stores')
    const key = `0x${'ab'.repeat(65)}`
    expect(await one.get(key)).toBeUndefined()
    await one.delete(key)
    await one.set(key, '0x01')
    await two.set(`${key}00`, '0x03')
    await two.set(key, '0x02')
    expect(await one.get(key)).toBe('0x02')
    await two.delete(key)
    expect(await one.get(key)).toBeUndefined()
    expect(await one.get(`${key}00`)).toBe('0x03')
    await one.set(key, '0x04')
    expect(await two.get(key)).toBe('0x04')
    await store.close()
    if (other !== store) await other.close()
  },
)

test('a stock facilitator that was restarted settles what was pending before', async () => {
  const file = join(folder, 'pending.db')
  const seller = await fundedAccount(chain)
  const payer = await fundedAccount(chain, 12_500_000n)
  const store = sqliteStore({ file })
  const first = await openStock(
    chain,
    { pendingSettlementStore: pendingSettlementStore(store) },
    { confirmationTimeoutMs: 200 },
  )
  const sent = await sign402(chain, payer, seller.address)
  const settle = (stock: typeof first) =>
    stock.settle(sent.paymentPayload, termsOf(chain, seller.address))
  await chain.clients.test.setAutomine(false)
  const pending = await settle(first)
  expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
  await store.close()
  await chain.clients.test.setAutomine(true)
  await chain.clients.test.mine({ blocks: 1 })

  const again = sqliteStore({ file })
  const second = await openStock(chain, {
    pendingSettlementStore: pendingSettlementStore(again),
  })
  expect(await settle(second)).toMatchObject({
    success: true,
    transaction: pending.transaction,
  })
  await again.close()
})
