import { memoryStore, type PaymentStore, StoreError } from 'countersign/store'
import { expect, test } from 'vitest'
import { eventsOf } from '../../support/shop.js'
import { balanceOf, openGateShop } from '../../support/x402Desk.js'
import { payFor } from '../../support/x402Paid.js'

/**
 * A store that commits the next claim of a payment for a handler, and loses the
 * answer of the database.
 */
function openLosing() {
  const kept = memoryStore()
  const state = { losses: 0 }
  const store: PaymentStore = {
    ...kept,
    write: async (work, options) => {
      let claims = false
      const see = (rows: readonly { data: { step?: unknown } }[]) => {
        claims ||= rows.some(({ data }) => data.step === 'working')
      }
      const result = await kept.write((tables) => {
        const { notes } = tables
        const insert: typeof notes.insert = (rows) => {
          see(rows)
          return notes.insert(rows)
        }
        const update: typeof notes.update = (rows) => {
          see(rows)
          return notes.update(rows)
        }
        return work({ ...tables, notes: { ...notes, insert, update } })
      }, options)
      if (!claims || state.losses === 0) return result
      state.losses--
      throw new StoreError('lost its connection', true)
    },
  }
  return { store, state }
}

test.each(['work', 'upfront'])(
  'when the answer of the commit before the handler for %s is lost, the next request runs it',
  async (offer) => {
    const { store, state } = openLosing()
    const shop = await openGateShop({}, { store })
    let runs = 0
    const paid = await payFor(shop, offer, () => {
      runs++
      return new Response('goods')
    })
    state.losses = 1
    expect((await paid.send()).status).toBe(503)
    expect([state.losses, runs]).toEqual([0, 0])
    const again = await paid.send()
    expect([again.status, await again.text()]).toEqual([200, 'goods'])
    expect((await paid.send()).status).toBe(200)
    expect(runs).toBe(1)
    expect(await balanceOf(paid.account.address)).toBe(0n)
    const { id } = await paid.order()
    expect(await eventsOf(shop, id)).not.toContain('refundDue')
    await shop.orders.close()
  },
)
