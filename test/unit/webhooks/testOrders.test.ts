import { expect, test } from 'vitest'
import { drawTestOrderId } from '../../../src/core/testOrders.js'
import { startReceiver } from '../support/webhooksReceiver.js'
import {
  eventually,
  progressOf,
  startRun,
  toldOf,
} from '../support/webhooksRun.js'
import { createStream } from '../support/webhooksStream.js'

test('no event of a test order is delivered, and those of the next order are, in order', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  const id = drawTestOrderId()
  await stream.tell(id, 'drafted', 'accepted', 'captured', 'refundDue')
  await stream.tell('order-1', 'drafted', 'accepted')
  await stream.tell(id, 'finalityRaised', 'refundRequested')
  await stream.tell('order-1', 'captured', 'fulfil')
  const run = startRun(stream, receiver)
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '10',
    read: '10',
    open: [],
  })
  await run.stop()
  expect(toldOf(receiver)).toEqual([
    'order-1 order.drafted 1',
    'order-1 order.accepted 2',
    'order-1 order.captured 3',
    'order-1 order.fulfil 4',
  ])
})

test('a target that asks for the types of a test order gets none of them', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  await stream.tell(drawTestOrderId(), 'captured')
  await stream.tell('order-1', 'captured')
  const run = startRun(stream, receiver, { types: ['captured'] })
  await eventually(() => progressOf(stream)).toMatchObject({ cursor: '2' })
  await run.stop()
  expect(toldOf(receiver)).toEqual(['order-1 order.captured 1'])
})
