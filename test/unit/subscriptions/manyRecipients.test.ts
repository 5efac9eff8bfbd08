import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { drawAddress } from '../../storeCases/samples.js'
import {
  blockAt,
  nowSeconds,
  openScheduleShop,
  type ScheduleShop,
} from '../support/scheduleShop.js'

beforeEach(() => {
  vi.useFakeTimers({ now: 1_795_000_000_000 })
})

afterEach(() => {
  vi.useRealTimers()
})

/** Runs the schedules for some milliseconds of fake time. */
async function runFor(
  { subscriptions }: Pick<ScheduleShop, 'subscriptions'>,
  milliseconds: number,
  during: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  const stop = new AbortController()
  const ended = subscriptions.run({ signal: stop.signal })
  await vi.advanceTimersByTimeAsync(1)
  await during()
  await vi.advanceTimersByTimeAsync(milliseconds)
  stop.abort()
  await vi.advanceTimersByTimeAsync(5_000)
  await ended
}

/** A shop whose recipients each have a subscription that is due in an hour. */
async function openQuiet(count: number): Promise<ScheduleShop> {
  const shop = openScheduleShop(count)
  for (const recipient of shop.recipients)
    await shop.insert(recipient, { due: nowSeconds() + 3_600n })
  return shop
}

async function costOfMinute(count: number) {
  const shop = await openQuiet(count)
  const before = shop.units()
  await runFor(shop, 60_000)
  return { requests: shop.asked.length, units: shop.units() - before }
}

test('a quiet minute costs as many requests for 300 recipients as for one, and a unit of work every 15 seconds', async () => {
  const one = await costOfMinute(1)
  const many = await costOfMinute(300)
  expect(many.requests).toBe(one.requests)
  // Subscriptions are read in pages of 200.
  expect(many.units - one.units).toBeLessThanOrEqual(1)
  expect(many.units).toBeLessThan(20)
})

test('while nothing is due, the node is asked only at the start', async () => {
  const shop = await openQuiet(1)
  await runFor(shop, 50)
  const { length } = shop.asked
  shop.asked.length = 0
  await runFor(shop, 300_000)
  expect(shop.asked.length).toBeLessThanOrEqual(length)
})

test('a shop without subscriptions asks its node once for its heads', async () => {
  const shop = openScheduleShop(300)
  await runFor(shop, 300_000)
  expect(new Set(shop.asked)).toEqual(new Set(['eth_getBlockByNumber']))
  expect(shop.asked).toHaveLength(3)
})

test('a subscription that becomes due in a quiet loop is looked at within a second of its time', async () => {
  const shop = openScheduleShop(2)
  const [recipient = '0x'] = shop.recipients
  const due = nowSeconds() + 100n
  const id = await shop.insert(recipient, { due })
  const rowOf = () =>
    shop.store.read(({ subscriptions }) => subscriptions.find({ ids: [id] }))
  await runFor(shop, 200_000, async () => {
    await vi.advanceTimersByTimeAsync(98_000)
    expect((await rowOf())[0]?.due).toBe(due)
    await vi.advanceTimersByTimeAsync(5_000)
    expect((await rowOf())[0]?.due).not.toBe(due)
  })
})

test('a subscription that starts in a quiet loop is looked at once it is on record', async () => {
  const shop = openScheduleShop(2)
  const [, recipient = '0x'] = shop.recipients
  await runFor(shop, 1_000, async () => {
    await vi.advanceTimersByTimeAsync(2_000)
    const id = await shop.insert(recipient, { due: 0n })
    await vi.advanceTimersByTimeAsync(1_500)
    const [row] = await shop.store.read(({ subscriptions }) =>
      subscriptions.find({ ids: [id] }),
    )
    expect(row?.due).not.toBe(0n)
  })
})

test('a subscription that is restarted in a quiet loop is looked at once', async () => {
  const shop = openScheduleShop(1)
  // SQL stores tell their own process of events alone, and here is none.
  Object.assign(shop.store, { onChange: () => () => undefined })
  const [recipient = '0x'] = shop.recipients
  const id = await shop.insert(recipient)
  const ids = [id]
  await shop.store.write(async ({ orders, subscriptions }) => {
    for (const order of await orders.find({ ids }))
      await orders.update([{ ...order, state: 'stored' }])
    for (const row of await subscriptions.find({ ids }))
      await subscriptions.update([{ ...row, state: 'unpaid' }])
  })
  await runFor(shop, 1_000, async () => {
    await vi.advanceTimersByTimeAsync(2_000)
    const verdict = await shop.subscriptions.restart({ subscriptionId: id })
    expect(verdict.ok).toBe(true)
    await vi.advanceTimersByTimeAsync(1_500)
    const [row] = await shop.store.read(({ subscriptions }) =>
      subscriptions.find({ ids }),
    )
    expect(row?.due).not.toBe(0n)
  })
})

test('the charges of 1,500 recipients are read with two requests, and then from the cursor on', async () => {
  const shop = openScheduleShop(1_500)
  for (const recipient of shop.recipients) await shop.insert(recipient)
  await runFor(shop, 1_000)
  expect(shop.charges.map(({ recipients }) => recipients.length)).toEqual([
    1000, 500,
  ])
  shop.charges.length = 0
  await vi.advanceTimersByTimeAsync(3_600_000)
  const head = blockAt(nowSeconds())
  await runFor(shop, 1_000)
  expect(shop.charges).toHaveLength(2)
  shop.charges.length = 0
  await runFor(shop, 1_000)
  for (const { fromBlock } of shop.charges)
    expect(fromBlock).toBeGreaterThanOrEqual(head - 65n)
})

test('a node that takes fewer recipients in a filter is asked about shorter lists', async () => {
  const shop = openScheduleShop(300)
  for (const recipient of shop.recipients) await shop.insert(recipient)
  shop.refuse(({ recipients }) => recipients.length > 100)
  const reading = shop.subscriptions.reconcile()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await reading).toEqual({ settled: 0, adopted: 0 })
  const answered = shop.charges.filter(
    ({ recipients }) => recipients.length <= 100,
  )
  expect(new Set(answered.flatMap(({ recipients }) => recipients)).size).toBe(
    300,
  )
})

test('a recipient whose charges the node refuses keeps no other from being read, and catches up from where it stood', async () => {
  const shop = openScheduleShop(20)
  for (const recipient of shop.recipients) await shop.insert(recipient)
  const [refused = '0x'] = shop.recipients
  shop.refuse(({ recipients }) => recipients.includes(refused))
  await runFor(shop, 60_000)
  const begin = shop.charges[0]?.fromBlock
  await vi.advanceTimersByTimeAsync(3_600_000)
  await runFor(shop, 60_000)
  shop.refuse(() => false)
  shop.charges.length = 0
  await vi.advanceTimersByTimeAsync(3_600_000)
  await runFor(shop, 1_000)
  const [together, alone] = shop.charges
  expect(shop.charges).toHaveLength(2)
  expect(together?.recipients).toHaveLength(19)
  expect(together?.fromBlock).toBeGreaterThan((begin ?? 0n) + 1_000n)
  expect(alone).toMatchObject({ recipients: [refused], fromBlock: begin })
  shop.charges.length = 0
  await runFor(shop, 1_000)
  expect(shop.charges.map(({ recipients }) => recipients.length)).toEqual([20])
})

test('a manager whose logs the node never answers keeps no other from being read again', async () => {
  const shop = openScheduleShop(1)
  const [recipient = '0x'] = shop.recipients
  const silent = drawAddress()
  await shop.insert(recipient)
  await shop.insert(recipient, { manager: silent })
  shop.hang(({ manager }) => manager === silent)
  await runFor(shop, 3_600_000)
  const asked = (isSilent: boolean) =>
    shop.charges.filter(({ manager }) => (manager === silent) === isSilent)
  // A request without an answer is sent twice and ends after 30 seconds; then
  // comes a pause.
  expect(asked(true).length).toBeLessThanOrEqual(120)
  // Every ten minutes, and one for the minute that the first run waits.
  expect(asked(false).length).toBeGreaterThanOrEqual(5)
})

test('a recipient whose first subscription is older than the cursor is read from its beginning', async () => {
  const shop = openScheduleShop(2)
  const [first = '0x', second = '0x'] = shop.recipients
  await shop.insert(first)
  const createdAt = nowSeconds() - 100_000n
  await runFor(shop, 1_000)
  await vi.advanceTimersByTimeAsync(3_600_000)
  await shop.insert(second, { createdAt })
  shop.charges.length = 0
  await runFor(shop, 1_000)
  expect(shop.charges.map(({ recipients }) => recipients)).toEqual([
    [first],
    [second],
  ])
  expect(shop.charges[1]?.fromBlock).toBe(blockAt(createdAt))
})

test('a recipient that the shop gets while its schedules run is looked after', async () => {
  const shop = openScheduleShop(1, { shop: 'shop' })
  const recipient = drawAddress()
  await runFor(shop, 1_000, async () => {
    await vi.advanceTimersByTimeAsync(2_000)
    await shop.orders.changeRecipients({ add: [recipient] })
    const id = await shop.insert(recipient, { due: 0n })
    await vi.advanceTimersByTimeAsync(1_500)
    const [row] = await shop.store.read(({ subscriptions }) =>
      subscriptions.find({ ids: [id] }),
    )
    expect(row?.due).not.toBe(0n)
  })
})
