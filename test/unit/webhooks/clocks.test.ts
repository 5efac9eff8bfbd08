import { expect, test } from 'vitest'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import { hour, type MovedClock, moveClocks } from '../support/movedClocks.js'
import { checkTold, tellOrders } from '../support/webhooksChecks.js'
import { type Received, startReceiver } from '../support/webhooksReceiver.js'
import {
  eventually,
  progressOf,
  startRun,
  toldOf,
} from '../support/webhooksRun.js'
import { createStream } from '../support/webhooksStream.js'

const seed = Number(process.env.COUNTERSIGN_SEED) || 10878755

/** What receivers of Standard Webhooks accept, in seconds. */
const tolerance = 300

const trueTime = Date.now

function isInTime({ headers }: Received): boolean {
  const sent = Number(headers['webhook-timestamp'])
  return Math.abs(sent - trueTime() / 1000) <= tolerance
}

test(`after the sender's clock jumped by hours, every event has arrived in order (seed ${seed})`, async () => {
  const random = seededRandom(seed)
  const { under } = moveClocks()
  const clock: MovedClock = { ahead: 0 }
  const stream = createStream()
  const taken: boolean[] = []
  const receiver = await startReceiver((response, received) => {
    const isTaken = isInTime(received)
    taken.push(isTaken)
    response.writeHead(isTaken ? 204 : 400).end()
    clock.ahead = Math.floor(random() * 3 - 1) * hour
  })
  const run = under(clock, () => startRun(stream, receiver))
  await tellOrders(stream, 10)
  await eventually(() => receiver.received.length).toBeGreaterThan(30)
  await eventually(() => {
    clock.ahead = 0
    return progressOf(stream)
  }).toEqual({ cursor: '30', read: '30', open: [] })
  await run.stop()
  expect(taken).toContain(false)
  expect(checkTold(receiver, (index) => taken[index] === true)).toEqual(
    Array(30).fill(1),
  )
})

test("a receiver's Retry-After counts by its own clock, not by ours", async () => {
  const { under } = moveClocks()
  const stream = createStream()
  const asked: (number | undefined)[] = []
  const receiver = await startReceiver((response, _, index) => {
    const date = new Date(trueTime())
    const later = new Date(trueTime() + 2_000)
    response.setHeader('date', date.toUTCString())
    if (index === 0) response.setHeader('retry-after', later.toUTCString())
    response.writeHead(index === 0 ? 429 : 204).end()
  })
  await stream.tell('order-1', 'drafted')
  const pause = (_: number, retryAfter?: number) => {
    asked.push(retryAfter)
    return 5
  }
  under({ ahead: -hour }, () =>
    startRun(stream, receiver, { tools: { pause } }),
  )
  await eventually(() => toldOf(receiver).length).toBe(2)
  expect(asked[0]).toBe(2_000)
})
