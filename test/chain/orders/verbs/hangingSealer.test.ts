import { startDevChain } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import { memoryStore, type Sealer, sealer } from 'countersign/store'
import { createClient, http } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { createContext } from '../../../../src/orders/createContext.js'
import { resealOrders } from '../../../../src/orders/verbs/resealOrders.js'
import { fundedAccount, revoke } from '../../support/desk.js'
import { openHangingSealer, orderOf } from '../../support/hangingSealer.js'
import { insertSealed, keys, sealedContext } from '../../support/sealedRows.js'
import { openShop, pay, storedOrder } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const client = createReadClient({ chain: chain.chain, url: chain.urls.http })
const parameters = {
  tokens: [{ client, token: chain.token }],
  wallets: [
    createClient({
      account: await fundedAccount(chain),
      chain: chain.chain,
      transport: http(),
    }),
  ],
}

const price = 12_500_000n

const unavailable = {
  name: 'SealerUnavailableError',
  retryable: true,
  message: 'The sealer did not answer within 200 ms.',
}

async function openHangingShop() {
  const hanging = openHangingSealer()
  const policy = { sealTimeout: 200, relayCancellations: 'always' } as const
  const shop = await openShop(chain, { seal: hanging.seal, policy })
  return { shop, hanging }
}

test('accept answers that the sealer does not, and accepts the same payment later', async () => {
  const { shop, hanging } = await openHangingShop()
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  const signed = await pay(buyer, payment)
  const accept = () =>
    shop.orders.accept({ orderId: order.id, payment: signed })
  hanging.hang(() => true)
  await expect(accept()).rejects.toMatchObject(unavailable)
  hanging.mend()
  expect(await accept()).toMatchObject({ ok: true })
})

test('cancel answers that the sealer does not, and cancels later', async () => {
  const { shop, hanging } = await openHangingShop()
  const { id, buyer, signed } = await storedOrder(chain, shop)
  await shop.orders.cancellationToSign({ orderId: id })
  const cancellation = await revoke(chain, signed, buyer)
  const cancel = () =>
    shop.orders.acceptCancellation({ orderId: id, cancellation })
  hanging.hang(() => true)
  await expect(cancel()).rejects.toMatchObject(unavailable)
  hanging.mend()
  expect(await cancel()).toMatchObject({ ok: true })
})

test('reseal leaves the secret whose call hangs, and seals all others again', async () => {
  const store = memoryStore()
  const { ids, secrets } = await insertSealed(store, 6)
  const both = sealer({ keys, current: 'two' })
  let isHanging = true
  const hanging: Sealer = {
    ...both,
    open: (sealed, place) =>
      isHanging && orderOf(place) === ids[1]
        ? new Promise(() => undefined)
        : both.open(sealed, place),
  }
  const { sealer: limited } = createContext({
    ...parameters,
    store,
    seal: hanging,
    policy: { sealTimeout: 200 },
  })
  const context = sealedContext(store, limited)
  // This order has a signature only.
  expect(await resealOrders(context, {})).toEqual({
    resealed: secrets - 1,
    left: 1,
  })
  isHanging = false
  expect(await resealOrders(context, {})).toEqual({ resealed: 1, left: 0 })
})

test('the secrets of a page of orders are sealed again together', async () => {
  const store = memoryStore()
  const { secrets } = await insertSealed(store, 6)
  const both = sealer({ keys, current: 'two' })
  let sealing = 0
  let sealAll: () => void = () => undefined
  const all = new Promise<void>((resolve) => {
    sealAll = resolve
  })
  const waiting: Sealer = {
    ...both,
    seal: async (secret, place) => {
      sealing++
      if (sealing === secrets) sealAll()
      await all
      return both.seal(secret, place)
    },
  }
  expect(await resealOrders(sealedContext(store, waiting), {})).toEqual({
    resealed: secrets,
    left: 0,
  })
})
