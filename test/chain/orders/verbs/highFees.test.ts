import { startDevChain } from 'countersign/devchain'
import { afterAll, test } from 'vitest'
import { eventually } from '../../../unit/support/webhooksRun.js'
import { openShop, storedOrder } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0, token: 'usdc' })
afterAll(() => chain.stop())

test('health counts what waits because fees are above the cap, until they are below it', async () => {
  const { test: control } = chain.clients
  const policy = {
    capture: 'onAccept',
    pollingInterval: 50,
    maxFee: 2n * 10n ** 15n,
  } as const
  const shop = await openShop(chain, { policy })
  const { orders } = shop
  const counted = async () =>
    (await orders.health()).submitters.map(({ feeTooHigh }) => feeTooHigh)
  const ending = new AbortController()
  const running = orders.run({ signal: ending.signal })
  const setFee = async (baseFeePerGas: bigint) => {
    await control.setNextBlockBaseFeePerGas({ baseFeePerGas })
    await chain.warp(30)
    await control.setNextBlockBaseFeePerGas({ baseFeePerGas })
  }
  await setFee(10n ** 11n)
  for (let sold = 0; sold < 2; sold++) await storedOrder(chain, shop)
  await eventually(async () => {
    await setFee(10n ** 11n)
    return counted()
  }).toEqual([2])
  await eventually(async () => {
    await setFee(10n ** 9n)
    return counted()
  }).toEqual([0])
  ending.abort()
  await running
  await orders.close()
})
