import { getChannel } from 'countersign/channels'
import { encodeFunctionData, type PrivateKeyAccount, parseAbi } from 'viem'
import { getTransactionCount, mine, sendTransaction } from 'viem/actions'
import { expect, onTestFinished, test } from 'vitest'
import {
  authorizerOf,
  openChannelFacilitator,
  price,
  type StockCall,
  signCall,
} from '../../support/channelFacilitatorShop.js'
import { fundedAccount, newAccount } from '../../support/desk.js'
import { chain } from '../../support/x402Desk.js'

const prefix = 'invalid_batch_settlement_evm_'
const { public: reader, test: node } = chain.clients

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

const transfer = (to: `0x${string}`, value: bigint) => ({
  to: chain.token,
  data: encodeFunctionData({
    abi: parseAbi(['function transfer(address,uint256)']),
    args: [to, value],
  }),
})

const isSent = () =>
  expect
    .poll(async () => (await node.getTxpoolStatus()).pending, {
      timeout: 60_000,
    })
    .toBe(1)

/** The payer moves its tokens away, in the block of the deposit but before it. */
async function moveAway(account: PrivateKeyAccount, value: bigint) {
  await isSent()
  await sendTransaction(reader, {
    account,
    chain: chain.chain,
    ...transfer(newAccount().address, value),
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 5n * 10n ** 10n,
    gas: 200_000n,
  })
}

test('each try of a deposit that its payer makes fail counts towards the gas of the caller', async () => {
  const seller = await fundedAccount(chain)
  const shop = await openChannelFacilitator({
    callers: { one: { name: 'one', gasPerDay: 300_000n } },
    sellers: [seller],
  })
  const at = { receiver: shop.seller, authorizer: await authorizerOf(shop) }
  const account = await fundedAccount(chain, price)
  const call = await signCall(account, at, { max: price, deposit: price })
  await stopMining()
  const failing = shop.ask('settle', call)
  await moveAway(account, price)
  await mineAgain()
  expect(await failing).toMatchObject({
    errorReason: `${prefix}deposit_transaction_failed`,
  })
  const { address } = seller
  const sent = await getTransactionCount(reader, { address })
  // Nothing is sent while the tokens are away: these tries use no gas.
  for (let times = 0; times < 2; times++)
    expect(await shop.ask('settle', call)).toMatchObject({ success: false })
  const rich = await fundedAccount(chain, price)
  await sendTransaction(reader, {
    account: rich,
    chain: chain.chain,
    ...transfer(account.address, price),
  })
  expect(await shop.ask('settle', call)).toMatchObject({
    errorReason: 'gas_budget_exceeded',
  })
  expect(await getTransactionCount(reader, { address })).toBe(sent)
  const { id: channelId } = call
  expect(await getChannel(reader, { channelId })).toMatchObject({ balance: 0n })
})

test('a refused deposit that is asked for again waits while a later one is on its way', async () => {
  const shop = await openChannelFacilitator()
  const at = { receiver: shop.seller, authorizer: await authorizerOf(shop) }
  const account = await fundedAccount(chain, price)
  const sign = () => signCall(account, at, { max: price, deposit: price })
  const first = await sign()
  await stopMining()
  const failing = shop.ask('settle', first)
  await moveAway(account, price)
  await mineAgain()
  expect(await failing).toMatchObject({ success: false })
  const rich = await fundedAccount(chain, 2n * price)
  await sendTransaction(reader, {
    account: rich,
    chain: chain.chain,
    ...transfer(account.address, 2n * price),
  })
  await stopMining()
  const later = shop.ask('settle', await sign())
  await isSent()
  expect(await shop.ask('settle', first)).toMatchObject({
    errorReason: `${prefix}channel_busy`,
  })
  await mineAgain()
  expect(await later).toMatchObject({ success: true, amount: String(price) })
})
