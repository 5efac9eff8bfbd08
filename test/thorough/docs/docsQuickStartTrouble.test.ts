import type { Wallet } from 'countersign'
import { createBuyerClient } from 'countersign/client'
import type { Address } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type QuickStart,
  writeQuickStart,
} from '../../chain/support/quickStart.js'

const token: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const merchant: Address = '0x1563915e194D8CfBA1943570603F7606A3115508'

let guide: QuickStart
let printed: string
beforeAll(async () => {
  guide = await writeQuickStart()
  // Nothing listens where the node should be.
  printed = await guide.startAndRead('server.ts', /failed/)
})
afterAll(() => guide?.stop())

test('the server of the guide prints what it waits for while its node is down', () => {
  const host = new URL(guide.node).host
  expect(printed).toBe(
    `watch.failed, trying again: eth_getBlockByNumber failed at ${host}: no connection.`,
  )
})

test('an order that cannot be drafted says why', async () => {
  await expect(guide.run('order.ts', 'order-1')).rejects.toThrow(
    'A node of the chain did not answer',
  )
})

test('the page of the guide says what the shop says is wrong', async () => {
  const wallet: Wallet = {
    request: () => Promise.reject(new Error('The wallet was asked.')),
  }
  const url = `${guide.shop}/payments`
  const asked = { url, orderId: 'order-1', buyerToken: 'wrong' }
  const paying = createBuyerClient(asked).pay(wallet, {
    payer: merchant,
    expect: { chainId: 31337, token, to: merchant, amount: '12.50' },
  })
  await expect(paying).rejects.toThrow(
    'Order not found, or you do not have access to it.',
  )
})
