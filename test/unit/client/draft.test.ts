import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clientsOf } from '../support/clientServer.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const problem = (reason: string) =>
  Response.json({ reason }, { status: 503, headers: { 'retry-after': '1' } })

/** A merchant whose first draft fails so, and when each was asked for. */
function openDraft(first: () => Response | Promise<Response>) {
  const tries: { at: number; key: string | null }[] = []
  const begun = performance.now()
  const { merchant } = clientsOf({
    url: 'https://shop.test/payments',
    fetch: async ({ headers }) => {
      const at = performance.now() - begun
      tries.push({ at, key: headers.get('idempotency-key') })
      return tries.length === 1 ? first() : Response.json({ buyerToken: 'new' })
    },
  })
  return { merchant, tries }
}

test.each([
  ['the connection is lost', () => Promise.reject(new TypeError('lost'))],
  ['the server is out of time', () => problem('timeout')],
] as const)(
  'if %s, the next draft begins when the server is done with the first',
  async (_, first) => {
    const { merchant, tries } = openDraft(first)
    const drafted = merchant.draft({ amount: '1' })
    await vi.advanceTimersByTimeAsync(29_999)
    expect(tries).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(2)
    expect(await drafted).toEqual({ buyerToken: 'new' })
    const [one, two] = tries
    expect(one?.key).toMatch(/^[0-9a-f]{64}$/)
    expect(two?.key).toBe(one?.key)
  },
)

test.each([
  [
    'no server was reached',
    () => {
      const cause = Object.assign(new Error(), { code: 'ECONNREFUSED' })
      return Promise.reject(new TypeError('no', { cause }))
    },
  ],
  ['the server was busy', () => problem('overloaded')],
] as const)('if %s, the next draft begins soon', async (_, first) => {
  const { merchant, tries } = openDraft(first)
  const drafted = merchant.draft({ idempotencyKey: 'cart 7', amount: '1' })
  await vi.advanceTimersByTimeAsync(1_001)
  await drafted
  expect(tries.map(({ key }) => key)).toEqual(['cart 7', 'cart 7'])
})
