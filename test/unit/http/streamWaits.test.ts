import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createStreamHub } from '../../../src/http/streams/streamHub.js'
import { type FakeOrders, fakeOrders } from '../support/fakeOrders.js'
import { readFrames } from '../support/readFrames.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** More than any wait of a stream takes, and less than the stream lives. */
const longest = 120_000

function openBuyer(orders: Pick<FakeOrders, 'events' | 'get'>) {
  const { signal } = new AbortController()
  const order = { id: 'one' }
  const hub = createStreamHub(orders)
  return readFrames(hub.openOrder({ order, lastEventId: null, signal }))
}

/** Resolves to the ids of the next frames, however late they come. */
async function nextIds(
  stream: ReturnType<typeof readFrames>,
  count: number,
): Promise<(string | undefined)[]> {
  const frames = stream.take(count)
  await vi.advanceTimersByTimeAsync(longest)
  return (await frames).map(({ id }) => id)
}

test('an event that the shared reading misses is told from the record after a while', async () => {
  const orders = fakeOrders()
  const deaf: typeof orders = {
    ...orders,
    // Skips what was written, as a reading that lost a wake-up does.
    events: async (query) => {
      const read = await orders.events(query)
      return query?.orderId === undefined ? { ...read, events: [] } : read
    },
  }
  orders.tell('one', 'drafted')
  const stream = openBuyer(deaf)
  await vi.advanceTimersByTimeAsync(1_000)
  orders.tell('one', 'accepted')
  expect(await nextIds(stream, 2)).toEqual(['1', '2'])
  orders.tell('one', 'capturing')
  expect(await nextIds(stream, 1)).toEqual(['3'])
  await stream.cancel()
})

test.each(['get one', 'events one', 'events all'])(
  'a read that never answers delays a stream, and ends none: %s',
  async (lost) => {
    const orders = fakeOrders()
    let asked = 0
    orders.fault.now = () => {
      const isLost = orders.asked.at(-1)?.startsWith(lost) && asked++ % 2 === 0
      return isLost ? new Promise<void>(() => undefined) : undefined
    }
    orders.tell('one', 'drafted')
    const stream = openBuyer(orders)
    expect(await nextIds(stream, 1)).toEqual(['1'])
    orders.tell('one', 'accepted')
    expect(await nextIds(stream, 1)).toEqual(['2'])
    await stream.cancel()
  },
)
