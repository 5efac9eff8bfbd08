import type { CreateOrdersParameters } from 'countersign/orders'
import { expect, test, vi } from 'vitest'
import { SealError } from '../../../../src/store/errors.js'
import {
  authorizerOf,
  managerCall,
  openChannelFacilitator,
  price,
  rowOf,
  signCall,
} from '../../support/channelFacilitatorShop.js'
import { fundedAccount } from '../../support/desk.js'
import { chain } from '../../support/x402Desk.js'

/** A key service whose keys change while the process runs. */
function openKeyService(...names: string[]) {
  const service = {
    keyNames: names,
    get current(): string {
      return service.keyNames.at(-1) ?? ''
    },
    seal: async (secret: string): Promise<string> =>
      `${service.current} ${secret}`,
    open: async (sealed: string): Promise<string> => {
      const at = sealed.indexOf(' ')
      const key = sealed.slice(0, at)
      if (service.keyNames.includes(key)) return sealed.slice(at + 1)
      throw new SealError('has a key that is gone', { key })
    },
  }
  return service satisfies CreateOrdersParameters['seal']
}

test("a caller's channels are claimed once its keys are resealed and the older key is gone", async () => {
  const service = openKeyService('one')
  const shop = await openChannelFacilitator({ seal: service })
  const { seller: receiver, ask } = shop
  const at = { receiver, authorizer: await authorizerOf(shop) }
  const account = await fundedAccount(chain, 100_000n)
  const call = await signCall(account, at, { max: price, deposit: 100_000n })
  expect(await ask('settle', call)).toMatchObject({ success: true })
  service.keyNames = ['one', 'two']
  await shop.orders.reseal()
  service.keyNames = ['two']
  const later = performance.now() + 10_001
  const clock = vi.spyOn(performance, 'now').mockReturnValue(later)
  await authorizerOf(shop)
  clock.mockRestore()
  const claims = [rowOf(call, price)]
  const claim = managerCall(receiver, { type: 'claim', claims })
  expect(await ask('settle', claim)).toMatchObject({ success: true })
})
