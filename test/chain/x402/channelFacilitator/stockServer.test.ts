import { getTransactionCount } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  openChannelFacilitator,
  openStockServer,
  price,
} from '../../support/channelFacilitatorShop.js'
import { stockPayer } from '../../support/channelShop.js'
import { newAccount } from '../../support/desk.js'
import { balanceOf, chain, settlementOf } from '../../support/x402Desk.js'

const shop = await openChannelFacilitator()
const { seller: receiver } = shop

const transactionsOf = () =>
  getTransactionCount(chain.clients.public, { address: receiver })

test.each([
  ['the facilitator signs for', undefined],
  ['its own authorizer signs for', newAccount()],
])(
  'a stock server that %s sells twenty requests, claims, settles and refunds',
  async (_, authorizer) => {
    const server = await openStockServer(shop.url, {
      receiver,
      ...(authorizer ? { authorizer } : {}),
    })
    const { account, fetch, scheme } = await stockPayer()
    const paid = 10n * price
    const before = {
      count: await transactionsOf(),
      receiver: await balanceOf(receiver),
    }
    const first = await fetch(server.url)
    expect(first.status).toBe(200)
    expect(settlementOf(first)).toMatchObject({
      success: true,
      payer: account.address,
      amount: String(paid),
      extra: {
        chargedAmount: String(price),
        channelState: {
          balance: String(paid),
          totalClaimed: '0',
          withdrawRequestedAt: 0,
          refundNonce: '0',
          chargedCumulativeAmount: String(price),
        },
      },
    })
    for (let count = 1; count < 10; count++)
      expect((await fetch(server.url)).status).toBe(200)
    // The deposit is used up: the client makes another one.
    for (let count = 10; count < 20; count++)
      expect((await fetch(server.url)).status).toBe(200)
    expect(server.served).toHaveLength(20)
    expect((await transactionsOf()) - before.count).toBe(2)

    expect((await fetch(server.url)).status).toBe(200)
    const [claim] = await server.manager.claim()
    expect(claim).toMatchObject({ vouchers: 1 })
    expect(await server.manager.claim()).toEqual([])
    // The claim has moved the money: settling returns its transaction.
    expect(await server.manager.settle()).toEqual({
      transaction: claim?.transaction,
    })
    const got = async () => (await balanceOf(receiver)) - before.receiver
    expect(await got()).toBe(21n * price)

    expect((await fetch(server.url)).status).toBe(200)
    const refund = await scheme.refund(server.url)
    expect(refund).toMatchObject({
      success: true,
      amount: String(8n * price),
      extra: {
        channelState: {
          balance: String(22n * price),
          totalClaimed: String(22n * price),
          refundNonce: '1',
        },
      },
    })
    expect(await got()).toBe(22n * price)
    expect(await balanceOf(account.address)).toBe(1_000_000n - 22n * price)
    expect(await server.storage.list()).toEqual([])
    expect((await transactionsOf()) - before.count).toBe(6)
  },
)

test('the manager refunds an idle channel, with and without a claim before it', async () => {
  const server = await openStockServer(shop.url, { receiver })
  const { account, fetch } = await stockPayer()
  await fetch(server.url)
  await server.manager.claim()
  expect(await server.manager.refund()).toHaveLength(1)
  expect(await balanceOf(account.address)).toBe(1_000_000n - price)
  const other = await stockPayer()
  await other.fetch(server.url)
  expect(await server.manager.refund()).toHaveLength(1)
  expect(await balanceOf(other.account.address)).toBe(1_000_000n - price)
})
