import { type DevChain, startDevChain } from 'countersign/devchain'
import type { CaptureResult, LedgerRow } from 'countersign/orders'
import { afterAll, expect, test } from 'vitest'
import {
  eventsOf,
  openShop,
  type Shop,
  storedOrder,
} from '../../support/shop.js'

/** Blocks and pre-confirmations only on demand. */
const chain = await startDevChain({
  preconfirmations: 'flashblocks',
  blockTime: 0,
  tick: 0,
})
afterAll(() => chain.stop())

const early = { answerAt: 'preconfirmed', preconfirmedUpTo: '12.5' } as const

const openEarly = (
  mostAtRisk: { total: string; payer?: string } = { total: '1000' },
  on: DevChain = chain,
) => openShop(on, { policy: { mostAtRisk, maxInFlight: 100 } })

/** Does a step again and again until the work is done. */
async function during<result>(
  work: Promise<result>,
  step: () => Promise<unknown>,
): Promise<result> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  done.catch(() => undefined)
  while (!isDone) {
    await step()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return done
}

const tick = () => chain.preconfirmations.tick()
const seal = async () => {
  await tick()
  await chain.preconfirmations.seal()
}

const stateOf = async ({ orders }: Shop, orderId: string) =>
  (await orders.get({ orderId })).state

test('a capture is answered once the block being made shows it, and captured once a block has it', async () => {
  const shop = await openEarly()
  const { orders } = shop
  const { id } = await storedOrder(chain, shop)
  const result = await during(orders.capture({ orderId: id, ...early }), tick)
  expect(result).toMatchObject({
    status: 'preconfirmed',
    order: { state: 'capturing', capture: undefined },
  })
  expect(await orders.health()).toMatchObject({
    destinations: [{ atRisk: 12_500_000n, servedUnpaid: 0n }],
  })
  expect(await during(orders.capture({ orderId: id }), seal)).toMatchObject({
    status: 'captured',
    proof: {
      transactionHash:
        result.status === 'preconfirmed' && result.transactionHash,
    },
  })
  expect(await orders.health()).toMatchObject({
    destinations: [{ atRisk: 0n, servedUnpaid: 0n }],
  })
  expect(await eventsOf(shop, id)).toEqual([
    'drafted',
    'accepted',
    'captureRequested',
    'capturing',
    'preconfirmed',
    'captured',
  ])
})

test.each([
  ['in all', { total: '24.9' }, '12.5'],
  [
    'for a payer, where one pays a part of it',
    { total: '100', payer: '12.4' },
    '12.5',
  ],
  ['of the payment', { total: '100' }, '12.4'],
])(
  'above the limit %s, the answer waits for a block',
  async (_, mostAtRisk, preconfirmedUpTo) => {
    const shop = await openEarly(mostAtRisk)
    const { orders } = shop
    const ids: string[] = []
    for (const _ of [1, 2]) ids.push((await storedOrder(chain, shop)).id)
    let isSealed = false
    const answers: [string, boolean][] = []
    const all = Promise.all(
      ids.map(async (orderId) => {
        const { status } = await orders.capture({
          orderId,
          answerAt: 'preconfirmed',
          preconfirmedUpTo,
        })
        answers.push([status, isSealed])
      }),
    )
    const isShown = async () => {
      const found = await Promise.all(
        ids.map((orderId) => orders.get({ orderId })),
      )
      return found.every(({ preconfirmed }) => preconfirmed !== undefined)
    }
    await during(
      (async () => {
        while (!(await isShown()))
          await new Promise((resolve) => setTimeout(resolve, 20))
      })(),
      tick,
    )
    isSealed = true
    await during(all, seal)
    const isFitting = mostAtRisk.total === '24.9'
    expect(answers).toEqual([
      ...(isFitting ? [['preconfirmed', false]] : []),
      ['captured', true],
      ...(isFitting ? [] : [['captured', true]]),
    ])
  },
)

test('a payment that was dropped after its answer, and cannot be captured any more, is told with its amount', async () => {
  const own = await startDevChain({
    preconfirmations: 'flashblocks',
    blockTime: 0,
    tick: 0,
  })
  try {
    const shop = await openEarly({ total: '1000' }, own)
    const { orders } = shop
    const { id, buyer } = await storedOrder(own, shop)
    const result = await during(orders.capture({ orderId: id, ...early }), () =>
      own.preconfirmations.tick(),
    )
    expect(result.status).toBe('preconfirmed')
    await own.preconfirmations.dropPending()
    await own.block({ account: buyer.address })
    const end: CaptureResult = await during(
      orders.capture({ orderId: id }),
      async () => {
        await own.preconfirmations.tick()
        await own.preconfirmations.seal()
      },
    )
    expect(end).toMatchObject({ status: 'rejected' })
    const { events } = await orders.events({ limit: 100 })
    expect(events.filter(({ type }) => type === 'servedUnpaid')).toMatchObject([
      {
        orderId: id,
        data: { value: '12500000', payer: buyer.address.toLowerCase() },
      },
    ])
    expect(await orders.health()).toMatchObject({
      destinations: [{ atRisk: 0n, servedUnpaid: 12_500_000n }],
    })
    const rows: LedgerRow[] = []
    for await (const row of orders.ledger())
      if (row.type === 'unpaid') rows.push(row)
    expect(rows).toMatchObject([
      { orderId: id, unpaid: 12_500_000n, gross: 0n, net: 0n },
    ])
  } finally {
    await own.stop()
  }
})

test('of 40 captures at once, all are answered before a block has one', async () => {
  const shop = await openEarly()
  const { orders } = shop
  const ids = await Promise.all(
    Array.from({ length: 40 }, async () => (await storedOrder(chain, shop)).id),
  )
  const results = await during(
    Promise.all(ids.map((orderId) => orders.capture({ orderId, ...early }))),
    tick,
  )
  expect(results.map(({ status }) => status)).toEqual(
    ids.map(() => 'preconfirmed'),
  )
  await during(
    Promise.all(ids.map((orderId) => orders.capture({ orderId }))),
    seal,
  )
  expect(await Promise.all(ids.map((id) => stateOf(shop, id)))).toEqual(
    ids.map(() => 'captured'),
  )
})

test.each([
  [{ answerAt: 'now' }, 'answerAt must be one of preconfirmed, included'],
  [{ answerAt: 'preconfirmed' }, 'preconfirmedUpTo must be a decimal string'],
  [{ preconfirmedUpTo: '1' }, 'preconfirmedUpTo must be given only with'],
  [
    { answerAt: 'preconfirmed', preconfirmedUpTo: '0.0' },
    'preconfirmedUpTo must be a decimal string',
  ],
])('%j is refused', async (choice, message) => {
  const { orders } = await openEarly()
  const given = { orderId: 'order-1', ...choice }
  await expect(Reflect.apply(orders.capture, orders, [given])).rejects.toThrow(
    message,
  )
})

test('without a limit of what is at risk, nothing is answered before a block', async () => {
  const { orders } = await openShop(chain)
  await expect(
    orders.capture({ orderId: 'order-1', ...early }),
  ).rejects.toThrow('policy.mostAtRisk')
})
