import type { DevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openHangingSealer, orderOf } from '../../support/hangingSealer.js'
import {
  openRefundShop,
  policy,
  type RefundShop,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

const stateOf = async ({ orders }: RefundShop, orderId: string) =>
  (await orders.getRefund({ orderId, refundId: 'one' })).state

test.each([
  ['200 ms', 200],
  ['an hour', 3_600_000],
])(
  'a signed refund that is never sealed holds up no other, with a limit of %s',
  async (_, sealTimeout) => {
    const sealer = openHangingSealer()
    const shop = await openRefundShop(chain, {
      changes: { seal: sealer.seal, policy: { ...policy, sealTimeout } },
    })
    const sold = [await shop.sell(), await shop.sell(), await shop.sell()]
    const [first = '', ...others] = sold.map(({ id }) => id)
    sealer.hang(
      (call, place) =>
        call === 'seal' && orderOf(place)?.startsWith(first) === true,
    )
    for (const { id } of sold) await requestRefund(shop.orders, id, 'one')
    await shop.workUntil(async () => {
      const states = await Promise.all(others.map((id) => stateOf(shop, id)))
      return states.every((state) => state === 'succeeded')
    })
    expect(sealer.hung()).toBeGreaterThan(0)
    expect(await stateOf(shop, first)).toBe('requested')
    await shop.orders.close()
  },
)

test('once the sealer works again, refunds are signed by the same process', async () => {
  const sealer = openHangingSealer()
  const shop = await openRefundShop(chain, {
    changes: { seal: sealer.seal, policy: { ...policy, sealTimeout: 200 } },
  })
  const { id: first } = await shop.sell()
  const { id: second } = await shop.sell()
  await requestRefund(shop.orders, first, 'one')
  let isMended = false
  sealer.hang(() => true)
  const shown: unknown[] = []
  await shop.workUntil(async () => {
    const { destinations } = await shop.orders.health()
    for (const { putAside } of destinations) shown.push(...putAside)
    if (shown.length === 0) return false
    if (!isMended) {
      isMended = true
      sealer.mend()
      await requestRefund(shop.orders, second, 'one')
    }
    const states = [await stateOf(shop, first), await stateOf(shop, second)]
    return states.every((state) => state === 'succeeded')
  })
  expect(shown).toContainEqual(
    expect.objectContaining({
      what: `${first}\tone`,
      reason: 'SealerUnavailableError',
    }),
  )
  await shop.orders.close()
})
