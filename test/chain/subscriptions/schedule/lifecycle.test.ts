import {
  getBlock,
  getTransactionReceipt,
  sendTransaction,
  setAutomine,
} from 'viem/actions'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { manager } from '../../support/baseAccount.js'
import { balanceOf } from '../../support/refundDesk.js'
import {
  chargesOf,
  openSubscriptionShop,
  pass,
  period,
  startSubscriptionChain,
  stateOf,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

const price = 10_000_000n

test('a signed permission is approved and charged once in each period, with proof', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id, wallet } = await shop.subscribe({ periods: 3 })
  const isPaid = (number: number) => async () => {
    const { charges } = await shop.subscriptions.charges({ subscriptionId: id })
    return charges.filter(({ capture }) => capture).length === number
  }
  await shop.workUntil(isPaid(1))
  expect(await balanceOf(chain, wallet.address)).toBe(9n * price)
  await pass(chain, period)
  await shop.workUntil(isPaid(2))
  await pass(chain, period)
  await shop.workUntil(isPaid(3))
  expect(await stateOf(shop, id)).toBe('active')
  expect(await balanceOf(chain, shop.seller)).toBe(3n * price)
  await pass(chain, period)
  await shop.workUntil(async () => (await stateOf(shop, id)) === 'ended')
  expect(await chargesOf(shop, id)).toEqual([
    ['period-1', 'captured', price],
    ['period-2', 'captured', price],
    ['period-3', 'captured', price],
  ])
  expect((await shop.orders.audit()).ok).toBe(true)
})

test('the first charge tells that its permission was approved, and later charges do not', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id } = await shop.subscribe()
  const isCaptured = (number: number) => async () =>
    (await chargesOf(shop, id)).filter(([, state]) => state === 'captured')
      .length === number
  await shop.workUntil(isCaptured(1))
  await pass(chain, period)
  await shop.workUntil(isCaptured(2))
  const { events } = await shop.orders.events()
  // The pending block may or may not show a capture before its block does.
  const settling = ['captureRequested', 'capturing', 'captured']
  const told = [
    ...settling,
    'reopened',
    'captureRejected',
    'permissionApproved',
  ]
  const typesOf = (charge: string) =>
    events
      .filter((one) => 'orderId' in one && one.orderId === `${id}/${charge}`)
      .flatMap(({ type }) => (told.includes(type) ? [type] : []))
  expect(typesOf('period-1')).toEqual([
    'captureRequested',
    'capturing',
    'permissionApproved',
    'capturing',
    'captured',
  ])
  expect(typesOf('period-2')).toEqual(settling)
  const approval = events.find(({ type }) => type === 'permissionApproved')
  const capture = events.find(({ type }) => type === 'captured')
  if (approval?.type !== 'permissionApproved' || capture?.type !== 'captured')
    throw new Error('an event is missing')
  const { transactionHash, blockNumber } = approval.data
  expect(transactionHash).not.toBe(capture.data.transactionHash)
  const receipt = await getTransactionReceipt(chain.clients.public, {
    hash: transactionHash,
  })
  expect(receipt).toMatchObject({
    status: 'success',
    blockNumber: BigInt(blockNumber),
  })
})

test('an approval without effect, because somebody else sent it first, is not told as one', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id } = await shop.subscribe()
  const isFirst = (state: string) => async () =>
    (await chargesOf(shop, id))[0]?.[1] === state
  const pendingApproval = async () => {
    const { transactions } = await getBlock(chain.clients.public, {
      blockTag: 'pending',
      includeTransactions: true,
    })
    return transactions.find(({ to }) => to === manager)
  }
  await setAutomine(chain.clients.test, false)
  onTestFinished(() => setAutomine(chain.clients.test, true))
  const isPending = async () => (await pendingApproval()) !== undefined
  await shop.workUntil(isPending, { mines: false })
  const approval = await pendingApproval()
  if (!approval?.to || !approval.maxFeePerGas)
    throw new Error('no approval is pending')
  const { relayer } = chain.clients
  const fee = approval.maxFeePerGas * 10n
  await sendTransaction(relayer, {
    to: approval.to,
    data: approval.input,
    gas: approval.gas,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: fee,
  })
  await shop.workUntil(isFirst('captured'))
  const receipt = await getTransactionReceipt(chain.clients.public, {
    hash: approval.hash,
  })
  expect(receipt).toMatchObject({ status: 'success', logs: [] })
  const { events } = await shop.orders.events()
  const types = events.map(({ type }) => type)
  expect(types).toContain('reopened')
  expect(types).not.toContain('permissionApproved')
})
