import { mine } from 'viem/actions'
import { expect, onTestFinished, test } from 'vitest'
import {
  authorizerOf,
  openChannelFacilitator,
  price,
  type StockCall,
  signCall,
} from '../../support/channelFacilitatorShop.js'
import { fundedAccount } from '../../support/desk.js'
import { chain } from '../../support/x402Desk.js'

const prefix = 'invalid_batch_settlement_evm_'
const { test: node } = chain.clients

async function stopMining() {
  await node.setAutomine(false)
  onTestFinished(() => node.setAutomine(true))
}

async function mineAgain() {
  await node.setAutomine(true)
  await mine(node, { blocks: 1 })
}

/** The deposit of one call with the voucher of another, and another amount. */
function mixed(call: StockCall, other: StockCall, amount: bigint): StockCall {
  const { payload, ...rest } = Object(call.paymentPayload)
  const { voucher } = Object(other.paymentPayload.payload)
  const deposit = { ...payload.deposit, amount: String(amount) }
  const paymentPayload = { ...rest, payload: { ...payload, voucher, deposit } }
  return { ...call, paymentPayload }
}

test('a deposit on record covers only what it deposits, whatever a later call says of it', async () => {
  const shop = await openChannelFacilitator({ timeout: 1500 })
  const at = { receiver: shop.seller, authorizer: await authorizerOf(shop) }
  const account = await fundedAccount(chain, price)
  const call = await signCall(account, at, { max: price, deposit: price })
  const more = await signCall(account, at, { max: 50n * price })
  await stopMining()
  expect(await shop.ask('settle', call)).toMatchObject({
    errorReason: 'settlement_pending',
  })
  const forged = mixed(call, more, 100n * price)
  expect(await shop.ask('verify', forged)).toMatchObject({
    isValid: false,
    invalidReason: `${prefix}deposit_simulation_failed`,
  })
  expect(await shop.ask('verify', mixed(call, more, price))).toMatchObject({
    isValid: false,
    invalidReason: `${prefix}cumulative_exceeds_balance`,
  })
  await mineAgain()
  // A server delivers once this is a success.
  for (const sent of [forged, mixed(call, more, price)])
    expect(await shop.ask('settle', sent)).toMatchObject({
      success: false,
      errorReason: `${prefix}cumulative_exceeds_balance`,
      transaction: expect.stringMatching(/^0x/),
    })
  expect(await shop.ask('settle', call)).toMatchObject({
    success: true,
    amount: String(price),
  })
})
