import { type Lease, memoryStore, type PaymentStore } from 'countersign/store'
import { createX402Gate } from 'countersign/x402'
import { expect, test } from 'vitest'
import { openGatePayer } from '../../support/gatePayer.js'
import { eventsOf } from '../../support/shop.js'
import { type GateShop, openGateShop } from '../../support/x402Desk.js'
import { payFor } from '../../support/x402Paid.js'

const stream = { amount: '0.01', flow: 'upfront', stream: true } as const
const again = { ...stream, repeatable: true } as const
const offers = { stream, again }

/** A shop with a second gate, as of another process. `die` ends the first. */
async function openTwo() {
  const kept = memoryStore()
  const leases = new Map<string, Lease>()
  const dead = new Set<string>()
  const store: PaymentStore = {
    ...kept,
    takeLease: async (wanted) => {
      if (dead.has(wanted.key)) throw new Error('this process is dead')
      const lease = await kept.takeLease(wanted)
      if (lease) leases.set(wanted.key, lease)
      return lease
    },
  }
  const shop = await openGateShop({ offers }, { store })
  const { orders } = shop
  const other: GateShop = { ...shop, gate: createX402Gate({ orders, offers }) }
  const die = async (orderId: string) => {
    const keys = [`x402:gate:${orderId}`]
    const [note] = await kept.read(({ notes }) => notes.find({ keys }))
    const key = `x402:${note?.data.owner}`
    dead.add(key)
    const lease = leases.get(key)
    if (lease) await kept.releaseLease(lease)
  }
  return { shop, other, die }
}

/** An answer in pieces that come when asked for. */
function pieces(...texts: string[]): Response {
  const left = texts.map((text) => new TextEncoder().encode(text))
  const body = new ReadableStream({
    pull: (controller) => {
      const next = left.shift()
      if (next) controller.enqueue(next)
      else controller.close()
    },
  })
  return new Response(body)
}

test('a stream that the end of its process cut off before the first byte raises refundDue', async () => {
  const { shop, other, die } = await openTwo()
  const payer = await openGatePayer(shop, 'stream', () => pieces('a', 'b'))
  expect((await payer.send()).status).toBe(200)
  const { id } = await payer.lastOrder()
  await die(id)
  const sold = other.gate.protect('stream', () => pieces('again'))
  const headers = { 'PAYMENT-SIGNATURE': payer.header }
  const late = await sold(new Request('https://shop.example/work', { headers }))
  expect([late.status, await late.json()]).toEqual([
    500,
    { error: 'interrupted' },
  ])
  expect(await eventsOf(shop, id)).toContain('refundDue')
})

test('a repeatable stream that the end of its process cut off is given again', async () => {
  const { shop, other, die } = await openTwo()
  const payer = await openGatePayer(shop, 'again', () => pieces('a', 'b'))
  const begun = await payer.send()
  const reader = begun.body?.getReader()
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('a')
  const { id } = await payer.lastOrder()
  await die(id)
  const sold = other.gate.protect('again', () => pieces('a', 'b'))
  const headers = { 'PAYMENT-SIGNATURE': payer.header }
  const late = await sold(new Request('https://shop.example/work', { headers }))
  expect([late.status, await late.text()]).toEqual([200, 'ab'])
  expect(await eventsOf(shop, id)).not.toContain('refundDue')
})

const streaming = await openGateShop({ offers }, { store: memoryStore() })

const stepOf = async (orderId: string) => {
  const keys = [`x402:gate:${orderId}`]
  const [note] = await streaming.store.read(({ notes }) => notes.find({ keys }))
  return note?.data.step
}

test('while a stream is passed on, the same payment is told so, and nothing is due', async () => {
  const { send, order } = await payFor(streaming, 'stream', () =>
    pieces('a', 'b'),
  )
  const begun = await send()
  const reader = begun.body?.getReader()
  await reader?.read()
  const { id } = await order()
  const meanwhile = await send()
  expect([meanwhile.status, await meanwhile.json()]).toEqual([
    409,
    { error: 'answered' },
  ])
  expect(await stepOf(id)).toBe('working')
  await reader?.read()
  await reader?.read()
  await expect.poll(() => stepOf(id)).toBe('done')
  expect((await send()).status).toBe(409)
  expect(await eventsOf(streaming, id)).not.toContain('refundDue')
})

test.each(['cancels it', 'leaves'])(
  'a stream is over when its client %s',
  async (how) => {
    const leaving = new AbortController()
    const { send, order } = await payFor(streaming, 'stream', () =>
      pieces('a', 'b'),
    )
    const begun = await send({ signal: leaving.signal })
    if (how === 'leaves') leaving.abort()
    else await begun.body?.cancel()
    const { id } = await order()
    await expect.poll(() => stepOf(id)).toBe('done')
    expect((await send()).status).toBe(409)
  },
)

test('a stream that breaks off is over, and its error reaches the client', async () => {
  const { send, order } = await payFor(streaming, 'stream', () => {
    const pull = () => {
      throw new Error('broken')
    }
    return new Response(new ReadableStream({ pull }))
  })
  const begun = await send()
  await expect(begun.text()).rejects.toThrow('broken')
  const { id } = await order()
  await expect.poll(() => stepOf(id)).toBe('done')
})

test('an answer without a body is passed on at once', async () => {
  const { send, order } = await payFor(
    streaming,
    'stream',
    () => new Response(null, { status: 204 }),
  )
  expect((await send()).status).toBe(204)
  const { id } = await order()
  await expect.poll(() => stepOf(id)).toBe('done')
})
