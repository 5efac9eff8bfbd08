import { encodePayment, InvalidFieldError } from 'countersign'
import { samplePayment } from 'countersign/testing'
import { expect, test } from 'vitest'
import { openStub, order } from '../support/httpStub.js'

const merchant = '/payments/merchant/orders'
const json = { 'content-type': 'application/json' }
const signed = encodePayment({ ...samplePayment(), signature: '0x12' })

async function detailOf(answer: Promise<Response>): Promise<unknown> {
  return (await (await answer).json()).detail
}

const post = (headers: Record<string, string>, body: string) =>
  openStub()('/payments/orders/one/payment', { method: 'POST', headers, body })

const readBefore =
  'The body was read before it came here: give the handler the raw request, ahead of express.json() and other body parsers.'

test.each<[string, () => Promise<Response>, string]>([
  [
    'a filter of states that do not exist',
    () => openStub()(`${merchant}?state=open`),
    'state must be one or more of drafted, stored, capturing, canceling, captured, voided, canceled, expired, consumed, with commas between them.',
  ],
  [
    'a limit that is too high',
    () => openStub()(`${merchant}?limit=201`),
    'limit must be a number from 1 to 200.',
  ],
  [
    'a payer that is no address',
    () => openStub()(`${merchant}?payer=0x12`),
    'payer must be an address.',
  ],
  [
    'a window out of bounds',
    () =>
      openStub({
        draft: async () => {
          throw new InvalidFieldError('window', 5n, 'from 21 to 86400 seconds')
        },
      })(merchant, {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ amount: '1', window: '5' }),
      }),
    'window must be from 21 to 86400 seconds.',
  ],
  [
    'a body that express.json() read',
    () => post({ ...json, 'content-length': `${signed.length}` }, ''),
    readBefore,
  ],
  ['a body that Fastify parsed', () => post(json, String({})), readBefore],
  ['a body that is not JSON', () => post(json, '{'), 'The body is not JSON.'],
  [
    'the capture of an order without a signature',
    () =>
      openStub({
        capture: async () => ({ status: 'rejected', order, reason: 'notOpen' }),
      })(`${merchant}/one/capture`, { method: 'POST' }),
    'The order is drafted, which does not allow this. The buyer has not sent a signed payment yet.',
  ],
  [
    'a draft that expired',
    () => openStub()('/payments/orders/one/payment'),
    'The order is drafted, which does not allow this. The time to pay is over: the shop can reauthorize it.',
  ],
  [
    'another order than the token is for',
    () => openStub()('/payments/orders/two'),
    'Order not found, or you do not have access to it.',
  ],
])("a newcomer's request is refused clearly: %s", async (_, ask, detail) => {
  expect(await detailOf(ask())).toBe(detail)
})
