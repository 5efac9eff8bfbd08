import { memoryStore, type PaymentStore, sealer } from 'countersign/store'
import { expect, test } from 'vitest'
import { openHangingSealer } from '../../support/hangingSealer.js'
import { eventsOf } from '../../support/shop.js'
import { balanceOf, openGateShop } from '../../support/x402Desk.js'
import { payFor } from '../../support/x402Paid.js'

/** A store that can be away, and counts the writes that it then refuses. */
function openAway() {
  const kept = memoryStore()
  const state = { left: 0, refused: 0 }
  const store: PaymentStore = {
    ...kept,
    write: (work, options) => {
      if (state.left === 0) return kept.write(work, options)
      state.left--
      state.refused++
      return Promise.reject(new Error('the database is away'))
    },
  }
  return { store, state }
}

test.each(['work', 'upfront'])(
  'when the database is away for a moment after the work for %s, its answer is kept and given all the same',
  async (offer) => {
    const { store, state } = openAway()
    const shop = await openGateShop({}, { store })
    let runs = 0
    const { send, account } = await payFor(shop, offer, () => {
      runs++
      state.left = 2
      return new Response('goods')
    })
    const response = await send()
    expect([response.status, await response.text()]).toEqual([200, 'goods'])
    expect(state.refused).toBe(2)
    expect(runs).toBe(1)
    expect(await balanceOf(account.address)).toBe(0n)
    await shop.orders.close()
  },
)

test('when the key service is away for a moment after the work, its answer is kept and given all the same', async () => {
  const keys = { first: crypto.getRandomValues(new Uint8Array(32)) }
  const real = sealer({ keys, current: 'first' })
  let left = 0
  const seal: typeof real = {
    ...real,
    seal: (text, place) => {
      if (left === 0) return real.seal(text, place)
      left--
      return Promise.reject(new Error('the key service is away'))
    },
  }
  const shop = await openGateShop({}, { seal })
  const { send } = await payFor(shop, 'work', () => {
    left = 2
    return new Response('goods')
  })
  const response = await send()
  expect([response.status, await response.text()]).toEqual([200, 'goods'])
  expect(left).toBe(0)
  await shop.orders.close()
})

test('when the key service never answers about one answer, it is sealed by another call and given all the same', async () => {
  const hanging = openHangingSealer()
  const shop = await openGateShop(
    {},
    { seal: hanging.seal, policy: { sealTimeout: 200 } },
  )
  const { send } = await payFor(shop, 'work', () => {
    hanging.hang((_, { kind }) => kind === 'answer' && hanging.hung() === 0)
    return new Response('goods')
  })
  const response = await send()
  expect([response.status, await response.text()]).toEqual([200, 'goods'])
  expect(hanging.hung()).toBe(1)
  await shop.orders.close()
})

test.each(['work', 'upfront'])(
  'when the database is away for longer, the next identical request for %s stores the answer and gets it',
  async (offer) => {
    const { store, state } = openAway()
    const shop = await openGateShop({ timeout: 300 }, { store })
    let runs = 0
    const { send, order } = await payFor(shop, offer, () => {
      runs++
      state.left = Number.POSITIVE_INFINITY
      return new Response('goods')
    })
    const first = await send()
    expect([first.status, await first.json()]).toEqual([
      503,
      { error: 'unavailable' },
    ])
    state.left = 0
    // It may wait for the capture.
    await expect.poll(sendUntilPaid(send)).toBe('goods')
    expect(runs).toBe(1)
    const { id, state: found } = await order()
    expect(found).toBe('captured')
    expect(await eventsOf(shop, id)).not.toContain('refundDue')
    await shop.orders.close()
  },
)

test('when the database is away after work that failed, the same payment may still ask again', async () => {
  const { store, state } = openAway()
  const shop = await openGateShop({ timeout: 300 }, { store })
  let runs = 0
  const { send } = await payFor(shop, 'work', () => {
    runs++
    if (runs > 1) return new Response('goods')
    state.left = Number.POSITIVE_INFINITY
    throw new Error('failed')
  })
  expect((await send()).status).toBe(503)
  state.left = 0
  const failed = await send()
  expect([failed.status, await failed.json()]).toEqual([
    500,
    { error: 'work_failed' },
  ])
  await expect.poll(sendUntilPaid(send)).toBe('goods')
  expect(runs).toBe(2)
  await shop.orders.close()
})

test('an answer that waits for the database is dropped if another process gave the payment up', async () => {
  const { store, state } = openAway()
  const shop = await openGateShop({ timeout: 300 }, { store })
  const { send, order, account } = await payFor(shop, 'work', () => {
    state.left = Number.POSITIVE_INFINITY
    return new Response('goods')
  })
  expect((await send()).status).toBe(503)
  state.left = 0
  const { id } = await order()
  await store.write(async ({ notes }) => {
    const [note] = await notes.find({ keys: [`x402:gate:${id}`] })
    if (note)
      await notes.update([{ ...note, data: { ...note.data, step: 'over' } }])
  })
  const before = await balanceOf(account.address)
  expect((await send()).status).toBe(402)
  expect(await balanceOf(account.address)).toBe(before)
  await shop.orders.close()
})

/** Sends again, and gets the text of a good answer. */
const sendUntilPaid =
  (send: () => Promise<Response>) => async (): Promise<string | number> => {
    const response = await send()
    return response.status === 200 ? response.text() : response.status
  }
