import { createOrders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silentClient } from '../support/contextOver.js'
import { openStub, reasonOf } from '../support/httpStub.js'

const audit = '/payments/merchant/audit'
const reconcile = '/payments/merchant/reconcile'
const post = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{}',
}

beforeEach(() => {
  // A crowd waits for real turns of the event loop.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A handler whose comparisons last until their signal aborts. */
function openSlow(merchants: Record<string, `0x${string}`> = {}) {
  const running = new Set<AbortSignal>()
  const compare = async ({
    signal,
  }: {
    signal?: AbortSignal | undefined
  } = {}) => {
    if (!signal) throw new Error('There is no signal.')
    running.add(signal)
    await new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve()),
    )
    running.delete(signal)
    throw signal.reason
  }
  const ask = openStub(
    { audit: compare, reconcile: compare },
    {
      authorize: ({ headers }) => {
        const recipient = merchants[headers.get('x-merchant') ?? '']
        return { recipients: [recipient ?? `0x${'1'.repeat(40)}`] }
      },
    },
  )
  return { ask, running }
}

test.each([
  [audit, {}],
  [reconcile, post],
])('a comparison ends when its client has left: %s', async (path, init) => {
  const { ask, running } = openSlow()
  const leaving = new AbortController()
  const answer = ask(path, { ...init, signal: leaving.signal })
  await vi.waitFor(() => expect(running.size).toBe(1), 60_000)
  leaving.abort()
  await answer
  expect(running.size).toBe(0)
})

test('a comparison whose answer is too late ends with the answer', async () => {
  const { ask, running } = openSlow()
  const answer = ask(audit)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await reasonOf(answer)).toEqual([503, 'timeout'])
  await vi.waitFor(() => expect(running.size).toBe(0), 60_000)
})

test('a principal has one comparison at a time, and holds up no other', async () => {
  const { ask, running } = openSlow({ other: `0x${'2'.repeat(40)}` })
  const leaving = new AbortController()
  const { signal } = leaving
  const first = ask(audit, { signal })
  await vi.waitFor(() => expect(running.size).toBe(1), 60_000)
  const busy = [429, 'comparisonRunning']
  expect(await reasonOf(ask(audit))).toEqual(busy)
  expect(await reasonOf(ask(reconcile, post))).toEqual(busy)
  const other = ask(audit, { headers: { 'x-merchant': 'other' }, signal })
  await vi.waitFor(() => expect(running.size).toBe(2), 60_000)
  leaving.abort()
  await Promise.all([first, other])
  const again = new AbortController()
  const last = ask(audit, { signal: again.signal })
  await vi.waitFor(() => expect(running.size).toBe(1), 60_000)
  again.abort()
  await last
})

test.each([audit, '/payments/merchant/health'])(
  'a page of another site cannot have %s asked',
  async (path) => {
    const asked: string[] = []
    const verb = async () => {
      asked.push(path)
      throw new Error('asked')
    }
    const ask = openStub({ audit: verb, health: verb })
    const from = (site: string) =>
      ask(path, { headers: { 'sec-fetch-site': site } })
    expect(await reasonOf(from('cross-site'))).toEqual([403, 'crossSite'])
    expect(asked).toEqual([])
    for (const site of ['same-origin', 'none']) await from(site)
    expect(asked).toEqual([path, path])
  },
)

test.each(['audit', 'reconcile'] as const)(
  '%s of orders ends with its signal, and asks nodes nothing more',
  async (verb) => {
    vi.useRealTimers()
    let asked = 0
    const client = silentClient(() => {
      asked++
      return new Promise(() => undefined)
    })
    const orders = createOrders({
      store: memoryStore(),
      seal: 'none',
      wallets: [client],
      tokens: [{ client, token: `0x${'2'.repeat(40)}` }],
    })
    const stop = new AbortController()
    const work = orders[verb]({ signal: stop.signal })
    await vi.waitFor(() => expect(asked).toBeGreaterThan(0), 60_000)
    stop.abort('enough')
    await expect(work).rejects.toBe('enough')
    const before = asked
    await expect(orders[verb]({ signal: stop.signal })).rejects.toBe('enough')
    expect(asked).toBe(before)
    await expect(orders[verb]({ signal: 5 as never })).rejects.toThrow('signal')
  },
)
