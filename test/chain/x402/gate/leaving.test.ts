import { expect, test } from 'vitest'
import { openGateShop } from '../../support/x402Desk.js'
import { payFor } from '../../support/x402Paid.js'

const shop = await openGateShop({
  offers: { stream: { amount: '0.01', flow: 'upfront', stream: true } },
})

test('a stream goes to the first client that still waits', async () => {
  let begin = () => {}
  let finish = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const { send } = await payFor(shop, 'stream', async () => {
    begin()
    await finished
    return new Response('the stream')
  })
  const leaving = new AbortController()
  const first = send({ signal: leaving.signal })
  await begun
  const waiting = [send(), send()]
  // They join the work before it ends.
  await new Promise((resolve) => setTimeout(resolve, 100))
  leaving.abort()
  finish()
  expect((await first).status).toBe(409)
  const answers = await Promise.all(waiting)
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  const given = answers.find(({ status }) => status === 200)
  expect(await given?.text()).toBe('the stream')
})

test('a stream is not begun for a client that left, and the next one gets it', async () => {
  let runs = 0
  const { send } = await payFor(shop, 'stream', () => {
    runs++
    return new Response('the stream')
  })
  const left = await send({ signal: AbortSignal.abort() })
  expect([left.status, await left.json()]).toEqual([
    503,
    { error: 'settlement_pending' },
  ])
  expect(runs).toBe(0)
  const next = await send()
  expect([next.status, await next.text()]).toEqual([200, 'the stream'])
  expect(runs).toBe(1)
})
