import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { startReceiver } from '../support/webhooksReceiver.js'
import {
  createSecret,
  eventually,
  progressOf,
  startRun,
  toldOf,
} from '../support/webhooksRun.js'
import { createStream } from '../support/webhooksStream.js'

test('an event is told to the receiver, signed by each secret', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  const secrets = [createSecret(), createSecret()]
  await stream.tell('order-1', 'captured')
  startRun(stream, receiver, { secrets })
  await eventually(() => receiver.received.length).toBe(1)
  const [{ text, headers } = { text: '', headers: {} }] = receiver.received
  for (const secret of secrets)
    expect(
      new Webhook(secret).verify(text, headers as Record<string, string>),
    ).toEqual({
      type: 'order.captured',
      timestamp: '2025-10-09T08:53:20.123Z',
      data: {
        value: '12500000',
        orderId: 'order-1',
        sequence: 1,
        chainId: 8453,
        token: `0x${'a'.repeat(40)}`,
        recipient: `0x${'b'.repeat(40)}`,
        at: '1760000000123',
      },
    })
})

test('what was delivered is not told again', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  await stream.tell('order-1', 'drafted', 'accepted')
  const run = startRun(stream, receiver)
  await eventually(() => receiver.received.length).toBe(2)
  await run.stop()
  expect(await progressOf(stream)).toEqual({ cursor: '2', read: '2', open: [] })
  await stream.tell('order-1', 'captured')
  startRun(stream, receiver)
  await eventually(() => receiver.received.length).toBe(3)
  expect(toldOf(receiver)).toEqual([
    'order-1 order.drafted 1',
    'order-1 order.accepted 2',
    'order-1 order.captured 3',
  ])
})
