import type { DevChain } from 'countersign/devchain'
import type { PrivateKeyAccount } from 'viem'
import { mine } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAside } from '../../../../src/orders/model/putAside.js'
import { getHealth } from '../../../../src/orders/verbs/getHealth.js'
import { destinationKey } from '../../../../src/orders/watcher/destinationCursor.js'
import { watchDestination } from '../../../../src/orders/watcher/watchDestination.js'
import { fundedAccount } from '../../support/desk.js'
import {
  openRefundShop,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'
import { destinationOf } from '../../support/watching.js'

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
  const destination = destinationOf(context)
  const aside = openAside(context, {
    key: destinationKey('watch', destination),
    observed: 'watch.failed',
    about: destination,
  })
  const pauses: number[] = []
  const watcher = watchDestination(context, destination, {
    aside: {
      ...aside,
      put: (name, error) => {
        const pause = aside.put(name, error)
        pauses.push(pause)
        return pause
      },
      // Every look tries again, however slow the machine is.
      isWaiting: () => false,
    },
  })
  for (let looks = 0; looks < 100 && pauses.length < 4; looks++) {
    await mine(chain.clients.test, { blocks: 1 })
    await watcher.look()
  }
  expect(pauses.slice(0, 4)).toEqual([100, 200, 400, 800])
  await watcher.look()
  await watcher.aside.save(watcher.lease())
  const [health] = (await getHealth(context)).destinations
  expect(health?.putAside).toHaveLength(1)
  await shop.orders.close()
})
