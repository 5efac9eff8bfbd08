import { expect, test } from 'vitest'
import { parseRetryAfter } from '../../../src/core/parseRetryAfter.js'
import { retryPause } from '../../../src/webhooks/targets/retryPause.js'
import { webhookMessage } from '../../../src/webhooks/targets/webhookMessage.js'
import { event } from '../support/webhooksEvent.js'

test.each([
  [1, 1000, 2000],
  [2, 2000, 4000],
  [3, 4000, 8000],
  [8, 128_000, 256_000],
  [9, 150_000, 300_000],
  [10, 150_000, 300_000],
  [5000, 150_000, 300_000],
])(
  'after %i failures the pause is from %i to %i ms',
  (failures, least, most) => {
    expect(retryPause(failures, undefined, () => 0)).toBe(least)
    expect(retryPause(failures, undefined, () => 1)).toBe(most)
    const drawn = retryPause(failures)
    expect(drawn).toBeGreaterThanOrEqual(least)
    expect(drawn).toBeLessThanOrEqual(most)
  },
)

test.each([
  [0, 1000],
  [500, 1000],
  [1500, 1500],
  [3_600_000, 3_600_000],
  [999_999_999_999, 3_600_000],
])('a receiver that asks for %i ms gets %i', (retryAfter, pause) => {
  expect(retryPause(1, retryAfter, () => 0)).toBe(pause)
})

test.each([
  ['120', 120_000],
  ['0', 0],
  ['9999999999', 9_999_999_999_000],
  ['Thu, 09 Oct 2025 08:53:30 GMT', 10_000],
  ['Thu, 09 Oct 2025 08:53:10 GMT', 0],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['0x10', undefined],
  ['soon', undefined],
  ['Thu, someday GMT', undefined],
  ['99999999999', undefined],
  [undefined, undefined],
])('the header Retry-After: %s means %s ms', (header, milliseconds) => {
  const sent = 'Thu, 09 Oct 2025 08:53:20 GMT'
  expect(parseRetryAfter(header, sent)).toBe(milliseconds)
})

test('the body holds the event, with what identifies it never overwritten', () => {
  const others = { sequence: 99, orderId: 'other', at: 'never' }
  const data = { ...event.data, ...others }
  expect(JSON.parse(webhookMessage({ ...event, data }).body)).toEqual({
    type: 'order.captured',
    timestamp: '2025-10-09T08:53:20.123Z',
    data: {
      ...event.data,
      orderId: 'order-1',
      sequence: 3,
      chainId: 8453,
      token: event.token,
      recipient: event.recipient,
      at: '1760000000123',
    },
  })
})

test('the id of an event is always the same', () => {
  expect(webhookMessage(event).id).toMatch(/^evt_[\da-f]{40}$/)
  expect(webhookMessage({ ...event }).id).toBe(webhookMessage(event).id)
})

test.each<[string, object]>([
  ['chain', { chainId: 1 }],
  ['token', { token: `0x${'c'.repeat(40)}` }],
  ['recipient', { recipient: `0x${'c'.repeat(40)}` }],
  ['place in the stream', { cursor: 13n }],
  ['order', { orderId: 'order-2' }],
  ['lack of an order', { orderId: undefined }],
  ['place in the order', { sequence: 4 }],
  ['type', { type: 'expired' }],
  ['time, as in a restored backup,', { at: 1_760_000_000_124n }],
])('an event with another %s has another id', (_, change) => {
  const other = { ...event, ...change }
  expect(webhookMessage(other).id).not.toBe(webhookMessage(event).id)
})
