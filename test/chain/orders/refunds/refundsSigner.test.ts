import type { DevChain } from 'countersign/devchain'
import type { PrivateKeyAccount } from 'viem'
import { mine } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getHealth } from '../../../../src/orders/verbs/getHealth.js'
import { fakeNode, fundedAccount } from '../../support/desk.js'
import {
  openRefundShop,
  policy,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'
import { asidesOf, watchOf } from '../../support/watching.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

test('a signer that fails over a refund is asked after growing pauses, and health shows it', async () => {
  const account: PrivateKeyAccount = {
    ...(await fundedAccount(chain)),
    signTypedData: () => Promise.reject(new Error('quota exceeded')),
  }
  const shop = await openRefundShop(chain, { account })
  const { id } = await shop.sell()
  await requestRefund(shop.orders, id, 'one')
  const { context } = shop
  const pauses: number[] = []
  const watcher = watchOf(context, {
    asides: asidesOf(context, {
      onPut: (_, pause) => pauses.push(pause),
      // Every look tries again, however slow the machine is.
      isWaiting: () => false,
    }),
  })
  for (let looks = 0; looks < 100 && pauses.length < 4; looks++) {
    await mine(chain.clients.test, { blocks: 1 })
    await watcher.look()
  }
  expect(pauses.slice(0, 4)).toEqual([100, 200, 400, 800])
  await watcher.look()
  await watcher.asides.save(watcher.lease())
  const [health] = (await getHealth(context)).destinations
  expect(health?.putAside).toHaveLength(1)
  await shop.orders.close()
})

test('a signer that is silent over one refund leaves the others their whole window', async () => {
  const own = await fundedAccount(chain)
  let asked = 0
  let giveUp: () => void = () => undefined
  const account: PrivateKeyAccount = {
    ...own,
    signTypedData: async (typed) => {
      asked++
      if (asked === 1)
        await new Promise<void>((_, reject) => {
          giveUp = () => reject(new Error('no answer'))
        })
      return own.signTypedData(typed)
    },
  }
  const shop = await openRefundShop(chain, {
    account,
    changes: { policy: { ...policy, window: 60n, signTimeout: 60_000 } },
  })
  const sold = [await shop.sell(), await shop.sell(), await shop.sell()]
  for (const { id } of sold) await requestRefund(shop.orders, id, 'one')
  await shop.workUntil(async () => asked > 0)
  // Longer than the window.
  await chain.warp(65)
  giveUp()
  const statesOf = () =>
    Promise.all(
      sold.slice(1).map(async ({ id: orderId }) => {
        const query = { orderId, refundId: 'one' }
        return (await shop.orders.getRefund(query)).state
      }),
    )
  await shop.workUntil(async () => (await statesOf()).every(isOver))
  expect(await statesOf()).toEqual(['succeeded', 'succeeded'])
  await shop.orders.close()
})

const isOver = (state: string) => state === 'succeeded' || state === 'failed'

test('a node that is silent about one refund holds up no watch', async () => {
  let isSilent = false
  const { client } = fakeNode(chain, ({ method }, forward) =>
    isSilent && method === 'eth_call'
      ? new Promise(() => undefined)
      : forward(),
  )
  const shop = await openRefundShop(chain, {
    changes: { policy: { ...policy, fulfilAt: 'finalized' }, client },
  })
  const { id } = await shop.sell()
  await shop.look()
  const other = await shop.sell()
  await requestRefund(shop.orders, id, 'one')
  isSilent = true
  await shop.look()
  await mine(chain.clients.test, { blocks: 4 })
  await shop.look()
  await shop.look()
  const { capture } = await shop.orders.get({ orderId: other.id })
  expect(capture?.finality).toBe('finalized')
  await shop.orders.close()
})
