import type { X402Handler } from 'countersign/x402'
import { expect, test } from 'vitest'
import { eventsOf } from '../../support/shop.js'
import {
  balanceOf,
  openGateShop,
  price,
  settlementOf,
} from '../../support/x402Desk.js'
import { payFor } from '../../support/x402Paid.js'

const told: unknown[] = []
const shop = await openGateShop(
  {},
  { observe: (observation) => told.push(observation) },
)

/** Its first answer breaks off after the first words. */
function breaking(status = 200): X402Handler {
  let runs = 0
  return () => {
    runs++
    if (runs > 1) return new Response(`run ${runs}`)
    const pieces = ['secret words']
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const piece = pieces.shift()
        if (piece === undefined) controller.error(new Error('secret words'))
        else controller.enqueue(new TextEncoder().encode(piece))
      },
    })
    return new Response(body, { status })
  }
}

test.each([200, 404])(
  'an answer of %d that breaks off is a failure of the work: nothing is taken, and the payment may ask again',
  async (status) => {
    const { send, account } = await payFor(shop, 'work', breaking(status))
    const failed = await send()
    expect([failed.status, await failed.text()]).toEqual([
      500,
      '{"error":"work_failed"}',
    ])
    expect(await balanceOf(account.address)).toBe(price)
    const again = await send()
    expect([again.status, await again.text()]).toEqual([200, 'run 2'])
    expect(await balanceOf(account.address)).toBe(0n)
  },
)

test('an answer that breaks off after the capture raises refundDue because the work failed', async () => {
  const { send, order } = await payFor(shop, 'upfront', breaking())
  const failed = await send()
  expect([failed.status, await failed.text()]).toEqual([
    500,
    '{"error":"work_failed"}',
  ])
  expect(settlementOf(failed)).toMatchObject({ success: true })
  expect(await eventsOf(shop, (await order()).id)).toContain('refundDue')
  const { id: orderId } = await order()
  expect(told).toContainEqual({
    name: 'x402.handler',
    attributes: {
      ok: false,
      offer: 'upfront',
      orderId,
      error: 'Error',
      words: 'secret words',
      stack: expect.stringContaining('brokenAnswers.test.ts'),
    },
  })
})

test.each(['work', 'upfront'])(
  'an answer of status 0 for %s is a failure of the work',
  async (offer) => {
    const { send, account, order } = await payFor(shop, offer, () =>
      Response.error(),
    )
    const failed = await send()
    expect([failed.status, await failed.text()]).toEqual([
      500,
      '{"error":"work_failed"}',
    ])
    const isPaid = offer === 'upfront'
    expect(await balanceOf(account.address)).toBe(isPaid ? 0n : price)
    const events = await eventsOf(shop, (await order()).id)
    expect(events.includes('refundDue')).toBe(isPaid)
  },
)
