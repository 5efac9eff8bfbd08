import type { ProbeVerdict } from 'countersign/orders'
import { expect, test } from 'vitest'
import { fakeOrders } from '../support/fakeOrders.js'
import { openStub, reasonOf, stubOrders, token } from '../support/httpStub.js'

const bare = { headers: { authorization: '' } }
const isOk = async (): Promise<ProbeVerdict> => ({ ok: true })
const fails =
  (reason: 'storeUnavailable' | 'storeLost' | 'wrongSetup' | 'stopping') =>
  async (): Promise<ProbeVerdict> => ({ ok: false, reason })

test('probes need no sign-in, and answer nothing but that all is well', async () => {
  const ask = openStub(
    { liveness: isOk, readiness: isOk },
    { authorize: () => undefined },
  )
  for (const path of ['/payments/livez', '/payments/readyz']) {
    const response = await ask(path, bare)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual({ ok: true })
  }
})

test.each(['storeUnavailable', 'storeLost', 'wrongSetup', 'stopping'] as const)(
  'a process that is not ready for %s answers 503',
  async (reason) => {
    const ask = openStub({ liveness: isOk, readiness: fails(reason) })
    expect(await reasonOf(ask('/payments/readyz', bare))).toEqual([503, reason])
    expect((await ask('/payments/livez', bare)).status).toBe(200)
  },
)

test.each(['/payments/livez', '/payments/readyz'])(
  'HEAD %s answers like GET, without a body',
  async (path) => {
    for (const probe of [isOk, fails('storeLost')]) {
      const ask = openStub({ liveness: probe, readiness: probe })
      const asked = await ask(path, { ...bare, method: 'HEAD' })
      const got = await ask(path, bare)
      expect(asked.status).toBe(got.status)
      expect([...asked.headers]).toEqual([...got.headers])
      expect(await asked.text()).toBe('')
    }
  },
)

test('a process that lost its store is not live', async () => {
  const ask = openStub({ liveness: fails('storeLost') })
  expect(await reasonOf(ask('/payments/livez', bare))).toEqual([
    ...[503, 'storeLost'],
  ])
})

test('probes are answered while too many other requests are running', async () => {
  let count = 0
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const ask = openStub({
    liveness: isOk,
    readiness: isOk,
    list: async () => {
      count++
      await ended
      return { orders: [], cursor: undefined }
    },
  })
  const all = Array.from({ length: 500 }, () =>
    ask('/payments/merchant/orders'),
  )
  await expect.poll(() => count).toBe(500)
  expect(await reasonOf(ask('/payments/merchant/orders'))).toEqual([
    ...[503, 'overloaded'],
  ])
  expect((await ask('/payments/livez', bare)).status).toBe(200)
  expect((await ask('/payments/readyz', bare)).status).toBe(200)
  end()
  await Promise.all(all)
})

test('a process that stops is live, not ready, and answers all but streams', async () => {
  const stopping = new AbortController()
  const { events, get } = fakeOrders()
  const ask = openStub(
    { ...stubOrders(), events, get, liveness: isOk, readiness: isOk },
    { stopping: stopping.signal },
  )
  const headers = { authorization: `Bearer ${token}` }
  const streams = ['/payments/orders/one/events', '/payments/merchant/events']
  const open = await Promise.all(streams.map((path) => ask(path, { headers })))
  expect(open.map(({ status }) => status)).toEqual([200, 200])
  stopping.abort()
  // Read to their ends.
  await Promise.all(open.map((response) => response.text()))
  for (const path of streams) {
    const refused = await ask(path, { headers })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await reasonOf(refused)).toEqual([503, 'stopping'])
  }
  expect(await reasonOf(ask('/payments/readyz', bare))).toEqual([
    ...[503, 'stopping'],
  ])
  expect((await ask('/payments/livez', bare)).status).toBe(200)
  expect((await ask('/payments/orders/one', { headers })).status).toBe(200)
})

test('stopping must be a signal', () => {
  const stopping = 'later' as unknown as AbortSignal
  expect(() => openStub({}, { stopping })).toThrow(/stopping must be/)
})
