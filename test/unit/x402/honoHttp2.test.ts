import { honoPayment, type X402Gate } from 'countersign/x402'
import { Hono } from 'hono'
import { expect, test } from 'vitest'

/** Stands in for a gate whose handler answers with a stream. */
const gate = {
  answer: async () =>
    new Response('the goods', { headers: { 'transfer-encoding': 'chunked' } }),
} as unknown as X402Gate

const app = new Hono()
app.use('/goods', honoPayment(gate, 'goods'))

test.each([
  [1, 'chunked'],
  [2, null],
  [undefined, 'chunked'],
])(
  'over HTTP/%s the mark of a stream is %s: Node ends the process at it over HTTP/2',
  async (httpVersionMajor, mark) => {
    const env = httpVersionMajor ? { incoming: { httpVersionMajor } } : {}
    const response = await app.request('/goods', {}, env)
    expect(response.headers.get('transfer-encoding')).toBe(mark)
    expect(await response.text()).toBe('the goods')
  },
)
