import { afterEach, expect, test, vi } from 'vitest'
import { openStub, reasonOf } from '../support/httpStub.js'

const token = 'ab'.repeat(32)
const headers = { authorization: `Bearer ${token}` }

afterEach(() => {
  vi.useRealTimers()
})

test('a crowd of buyers is refused at once beyond 500, and does not lock out the merchant', async () => {
  let count = 0
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const ask = openStub({
    getForBuyer: async () => {
      count++
      await ended
      throw new Error('hung')
    },
    list: async () => ({ orders: [], cursor: undefined }),
  })
  const all = Array.from({ length: 500 }, () =>
    ask('/payments/orders/one', { headers }),
  )
  await expect.poll(() => count).toBe(500)
  const refused = await ask('/payments/orders/one', { headers })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await reasonOf(refused)).toEqual([503, 'overloaded'])
  expect(count).toBe(500)
  expect((await ask('/payments/merchant/orders')).status).toBe(200)
  end()
  await Promise.all(all)
  const later = await ask('/payments/orders/one', { headers })
  expect(await reasonOf(later)).toEqual([500, 'internal'])
})

const own = { headers: { 'content-type': 'application/json' } }

/** Bodies of which nothing comes, and what was answered to them so far. */
function sendSlowly(
  ask: ReturnType<typeof openStub>,
  { path, count }: { path: string; count: number },
) {
  const answered: [number, string, string?][] = []
  for (let sent = 0; sent < count; sent++)
    ask(path, {
      ...own,
      method: 'POST',
      body: new ReadableStream(),
      duplex: 'half',
    } as RequestInit).then(async (response) =>
      answered.push(await reasonOf(response)),
    )
  return answered
}

test.each([
  ['an order', '/payments/orders/one/payment', 4],
  ['a merchant', '/payments/merchant/orders', 100],
])(
  'slow bodies of %s take only some places, until they are given up after 30 seconds',
  async (_, path, most) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const ask = openStub({
      list: async () => ({ orders: [], cursor: undefined }),
    })
    const answered = sendSlowly(ask, { path, count: 499 })
    await expect
      .poll(() => answered.length, { timeout: 5_000 })
      .toBe(499 - most)
    expect(new Set(answered.map(String))).toEqual(new Set(['503,overloaded']))
    expect((await ask('/payments/orders/one')).status).toBe(200)
    expect((await ask('/payments/merchant/orders')).status).toBe(200)
    await vi.advanceTimersByTimeAsync(30_000)
    expect(answered.slice(-most).map(String)).toEqual(
      Array(most).fill('503,timeout'),
    )
    const next = ask(path, { ...own, method: 'POST', body: '[]' })
    expect(await reasonOf(next)).toEqual([400, 'invalidField', 'body'])
  },
)
