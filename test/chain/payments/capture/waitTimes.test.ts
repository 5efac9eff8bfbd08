import { getEventListeners } from 'node:events'
import process from 'node:process'
import {
  capturePayment,
  OutcomeTimeoutError,
  waitForOutcome,
} from 'countersign'
import { detectPreconfirmations } from 'countersign/reads'
import { expect, test } from 'vitest'
import { draft, fakeNode, mined, randomHash } from '../../support/desk.js'
import {
  chain,
  isOpen,
  merchant,
  reader,
  sleep,
  wait,
} from '../../support/waitDesk.js'

test('the time to wait ends with an error that names the hash', async () => {
  const payment = await draft(chain)
  const hash = randomHash()
  const error = await wait({ payment, hash, timeout: 60 }).catch((e) => e)
  expect(error).toBeInstanceOf(OutcomeTimeoutError)
  expect(error).toMatchObject({
    retryable: true,
    details: { timeout: 60, hash },
  })
})

/** A node that never answers. */
const silent = () => fakeNode(chain, () => new Promise(() => undefined)).client

test('a node that never answers does not hold up the timeout', async () => {
  const payment = await draft(chain)
  const error = await wait({ payment, timeout: 50 }, silent()).catch((e) => e)
  expect(error).toBeInstanceOf(OutcomeTimeoutError)
})

test('a timeout longer than a timer can be is no timeout', async () => {
  const payment = await draft(chain)
  const waiting = wait({ payment, timeout: 2 ** 40 })
  expect(await isOpen(waiting)).toBe(true)
  await mined(chain, capturePayment(merchant, { payment }))
  expect((await waiting).status).toBe('captured')
})

test.each([
  ['between two looks', reader],
  ['while a request is under way', silent()],
])('a signal ends the wait %s', async (_, client) => {
  const payment = await draft(chain)
  const stop = new AbortController()
  const waiting = wait({ payment, signal: stop.signal }, client)
  const caught = waiting.catch((error) => error)
  expect(await isOpen(caught)).toBe(true)
  const reason = new Error('enough')
  stop.abort(reason)
  expect(await caught).toBe(reason)
})

test('a signal that is over already asks nothing', async () => {
  const { client, asked } = fakeNode(chain)
  const payment = await draft(chain)
  const signal = AbortSignal.abort()
  await expect(wait({ payment, signal }, client)).rejects.toBe(signal.reason)
  expect(asked).toEqual([])
})

const timers = () =>
  process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length

test.each(['captured', 'aborted', 'timed out'])(
  'no timer and no listener is left when it is %s',
  async (end) => {
    const payment = await draft(chain)
    const stop = new AbortController()
    const { signal } = stop
    const before = timers()
    const timeout = end === 'timed out' ? 50 : 600_000
    const options = { payment, signal, timeout, pollingInterval: 50_000 }
    const waiting = wait(options).catch((error) => error)
    const first = wait({ ...options, pollingInterval: 20 }).catch((e) => e)
    await sleep(40)
    expect(timers()).toBeGreaterThan(before)
    if (end === 'captured')
      await mined(chain, capturePayment(merchant, { payment })).then(
        () => first,
      )
    stop.abort()
    await Promise.all([waiting, first])
    await expect.poll(timers).toBeLessThanOrEqual(before)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  },
)

test('a pre-confirmation is looked for every 100 ms by default', async () => {
  const { client, asked } = fakeNode(chain, async () => null)
  const slow = { ...client, pollingInterval: 4000 }
  const payment = await draft(chain)
  const waiting = waitForOutcome(slow, {
    payment,
    hash: randomHash(),
    finality: 'preconfirmed',
    timeout: 450,
  })
  await expect(waiting).rejects.toThrow(OutcomeTimeoutError)
  expect(asked.length).toBeGreaterThanOrEqual(3)
})

test.each([Number.POSITIVE_INFINITY, 2 ** 31])(
  'a polling interval of %d does not flood the node',
  async (pollingInterval) => {
    const { client, asked } = fakeNode(chain)
    const payment = await draft(chain)
    const waiting = wait({ payment, pollingInterval, timeout: 400 }, client)
    await expect(waiting).rejects.toThrow(OutcomeTimeoutError)
    // One look takes one request.
    expect(asked.length).toBeLessThan(3)
  },
)

test('where none was detected, a pre-confirmation is looked for each second', async () => {
  const { client, asked } = fakeNode(chain)
  await detectPreconfirmations(client)
  const slow = { ...client, pollingInterval: 4000 }
  const payment = await draft(chain)
  const before = asked.length
  const hash = randomHash()
  const waiting = waitForOutcome(slow, {
    payment,
    hash,
    finality: 'preconfirmed',
    timeout: 450,
  })
  await expect(waiting).rejects.toThrow(OutcomeTimeoutError)
  expect(asked.length - before).toBe(1)
})

test.each([
  [false, 'pending'],
  [true, 'latest'],
])(
  'a pre-confirmation is judged at the detected tag (%s: %s)',
  async (detected, tag) => {
    const { client, asked } = fakeNode(chain)
    if (detected) await detectPreconfirmations(client)
    const payment = await draft(chain)
    await mined(chain, capturePayment(merchant, { payment }))
    await waitForOutcome(client, { payment, finality: 'preconfirmed' })
    const call = asked.find(({ method }) => method === 'eth_call')
    expect(Object(call?.params)[1]).toBe(tag)
  },
)
