import type { Observation } from 'countersign/orders'
import { afterAll, expect, test } from 'vitest'
import { balanceOf } from '../../support/refundDesk.js'
import {
  chargesOf,
  openSubscriptionShop,
  pass,
  period,
  startSubscriptionChain,
  stateOf,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

const price = 10_000_000n

test('a period whose signature does not open is reported, and charged once it opens', async () => {
  const failures: Observation['attributes'][] = []
  const observe = ({ name, attributes }: Observation) => {
    if (name === 'schedule.failed') failures.push(attributes)
  }
  const shop = await openSubscriptionShop(chain, { changes: { observe } })
  const { id, wallet } = await shop.subscribe()
  const { id: other } = await shop.subscribe()
  const isPaid = (one: string, count: number) => async () =>
    (await chargesOf(shop, one)).filter(([, state]) => state === 'captured')
      .length >= count
  for (const one of [id, other]) await shop.workUntil(isPaid(one, 1))
  const setSignature = (signature: string | undefined) =>
    shop.store.write(async ({ attempts }) => {
      const [attempt] = await attempts.find({ orderIds: [id] })
      if (!attempt) throw new Error('no attempt')
      await attempts.update([{ ...attempt, signature }])
      return attempt.signature
    })
  const signature = await setSignature('broken')
  await pass(chain, period)
  await shop.workUntil(async () => failures.length > 0)
  await shop.workUntil(isPaid(other, 2))
  expect(failures[0]).toMatchObject({ error: 'OrdersSetupError', what: id })
  expect(await chargesOf(shop, id)).toEqual([['period-1', 'captured', price]])
  await setSignature(signature)
  await shop.workUntil(isPaid(id, 2))
  expect(await chargesOf(shop, id)).toEqual([
    ['period-1', 'captured', price],
    ['period-2', 'captured', price],
  ])
  expect(await stateOf(shop, id)).toBe('active')
  expect(await balanceOf(chain, wallet.address)).toBe(8n * price)
})
