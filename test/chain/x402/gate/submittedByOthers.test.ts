import { getTransaction } from 'viem/actions'
import { expect, test } from 'vitest'
import { openGatePayer, submitAlone } from '../../support/gatePayer.js'
import {
  balanceOf,
  chain,
  countOrders,
  openGateShop,
  settlementOf,
} from '../../support/x402Desk.js'

const shop = await openGateShop()

test('a payment that somebody else submitted before the request buys nothing', async () => {
  let runs = 0
  const payer = await openGatePayer(shop, 'work', () => {
    runs++
    return new Response('goods')
  })
  const before = await countOrders(shop.orders)
  await submitAlone(payer)
  expect((await payer.send()).status).toBe(402)
  expect([runs, await countOrders(shop.orders)]).toEqual([0, before])
})

test('a payment that somebody else submits during the work is captured by that transaction', async () => {
  const payer = await openGatePayer(shop, 'work', async () => {
    await submitAlone(payer)
    return new Response('goods')
  })
  const response = await payer.send()
  expect([response.status, await response.text()]).toEqual([200, 'goods'])
  const { transaction: hash } = settlementOf(response)
  const { from } = await getTransaction(chain.clients.public, { hash })
  expect(from).toBe(payer.account.address.toLowerCase())
  expect((await payer.lastOrder()).state).toBe('captured')
  expect(await balanceOf(payer.account.address)).toBe(0n)
})
