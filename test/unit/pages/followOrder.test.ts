import { createBuyerClient } from 'countersign/client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { BuyerState } from '../../../src/client/BuyerClient.js'
import { followOrder } from '../../../src/pages/web/followOrder.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const order: BuyerState = {
  amount: '12.5',
  chainId: 31337,
  token: '0x00000000000000000000000000000000000000a1',
  recipient: '0x00000000000000000000000000000000000000b2',
  window: { validAfter: '100', validBefore: '1000' },
  state: 'stored',
  transaction: null,
  refunds: [],
}
const final = {
  ...order,
  state: 'captured',
  transaction: { hash: '0x1', finality: 'finalized' },
}

const newsOf = (id: number, type: string, shown: object): Response =>
  new Response(
    `id: ${id}\ndata: ${JSON.stringify({ type, at: '5000', order: shown })}\n\n`,
    { headers: { 'content-type': 'text/event-stream' } },
  )

/** Follows an order for ten seconds, with these answers of the shop. */
async function follow(
  ...answers: readonly (() => Response | Promise<Response>)[]
): Promise<{ asked: (string | null)[]; told: string[] }> {
  const left = [...answers]
  const asked: (string | null)[] = []
  const told: string[] = []
  const buyer = createBuyerClient({
    url: 'https://shop.test/payments',
    orderId: '1',
    buyerToken: 'ab'.repeat(32),
    fetch: async ({ headers }) => {
      asked.push(headers.get('last-event-id'))
      const answer = left.shift()
      if (!answer) throw new Error('The test has no more answers.')
      return answer()
    },
  })
  const ending = new AbortController()
  const { signal } = ending
  const following = followOrder(buyer, {
    signal,
    onNews: ({ type, at }) => told.push(`${type} ${at}`),
    onReachable: (isReachable) => told.push(isReachable ? 'live' : 'lost'),
  }).finally(() => ending.abort())
  const failed = following.catch(() => undefined)
  await vi.advanceTimersByTimeAsync(10_000)
  ending.abort()
  await failed
  await following
  return { asked, told }
}

test('an order is followed from its beginning, through a lost connection', async () => {
  const { asked, told } = await follow(
    () => newsOf(2, 'accepted', order),
    () => Promise.reject(new TypeError('fetch failed')),
    () => newsOf(7, 'finalityRaised', final),
  )

  expect(asked).toEqual(['0', '2', '2'])
  expect(told).toEqual(['live', 'accepted 5', 'live', 'finalityRaised 5'])
})

test('an order is followed on when the shop fails for a moment', async () => {
  const { told } = await follow(
    () => Response.json({ reason: 'internal' }, { status: 500 }),
    () => newsOf(7, 'status', final),
  )

  expect(told.slice(-2)).toEqual(['live', 'status 5'])
})

test('an order that is not there is not followed', async () => {
  const following = follow(() =>
    Response.json({ reason: 'orderNotFound' }, { status: 404 }),
  )

  await expect(following).rejects.toMatchObject({ reason: 'orderNotFound' })
})
