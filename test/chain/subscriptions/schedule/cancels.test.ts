import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { createBaseAccount, manager, send } from '../../support/baseAccount.js'
import { signAs } from '../../support/permissionDesk.js'
import { balanceOf } from '../../support/refundDesk.js'
import {
  chargesOf,
  openSubscriptionShop,
  pass,
  period,
  type SubscriptionShop,
  startSubscriptionChain,
  stateOf,
} from '../../support/subscriptionShop.js'

// Blocks are mined on request, so that transactions can wait for theirs.
const chain = await startSubscriptionChain(3600)
afterAll(() => chain.stop())

const price = 10_000_000n

const isIn = (shop: SubscriptionShop, id: string, state: string) => async () =>
  (await stateOf(shop, id)) === state

const hasCharge =
  (shop: SubscriptionShop, id: string, state: string) => async () =>
    (await chargesOf(shop, id)).some((one) => one[1] === state)

const walletAbi = parseAbi([
  'struct Call { address target; uint256 value; bytes data; }',
  'function executeBatch(Call[] calls)',
])

const managerAbi = parseAbi([
  'struct SpendPermission { address account; address spender; address token; uint160 allowance; uint48 period; uint48 start; uint48 end; uint256 salt; bytes extraData; }',
  'function revoke(SpendPermission spendPermission)',
])

test('two permissions that their payer revokes in one transaction are both canceled', async () => {
  const shop = await openSubscriptionShop(chain)
  const { subscriptions } = shop
  const { account: owner } = chain.clients.relayer
  const wallet = await createBaseAccount(chain, [manager, owner.address])
  await wallet.deploy()
  await chain.mint({ to: wallet.address, value: 10n * price })
  const ids: string[] = []
  const calls: { target: Address; value: bigint; data: Hex }[] = []
  for (const amount of ['10', '10']) {
    const { subscription, permission } = await subscriptions.draft({
      account: wallet.address,
      amount,
      period,
      periods: 12,
    })
    const { id } = subscription
    const signature = await signAs(wallet, permission)
    await subscriptions.accept({ subscriptionId: id, signature })
    await shop.workUntil(hasCharge(shop, id, 'captured'))
    ids.push(id)
    const { period: seconds, start, end, ...message } = permission.message
    const data = encodeFunctionData({
      abi: managerAbi,
      functionName: 'revoke',
      args: [
        {
          ...message,
          period: Number(seconds),
          start: Number(start),
          end: Number(end),
        },
      ],
    })
    calls.push({ target: manager, value: 0n, data })
  }
  const data = encodeFunctionData({
    abi: walletAbi,
    functionName: 'executeBatch',
    args: [calls],
  })
  await send(chain, { account: owner, to: wallet.address, data })
  await pass(chain, period)
  // In one run: a search that a run's end cuts off is made again a minute later.
  const areCanceled = ids.map((id) => isIn(shop, id, 'canceled'))
  await shop.workUntil(async () => {
    const found = await Promise.all(areCanceled.map((isDone) => isDone()))
    return found.every(Boolean)
  })
  expect(await balanceOf(chain, wallet.address)).toBe(8n * price)
})

test('a cancellation while the approval is in flight leaves nothing charged', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id, wallet } = await shop.subscribe()
  await shop.workUntil(hasCharge(shop, id, 'capturing'), { mines: false })
  await shop.subscriptions.cancel({ subscriptionId: id })
  await shop.workUntil(isIn(shop, id, 'canceled'))
  expect(await chargesOf(shop, id)).toEqual([['period-1', 'voided', price]])
  expect(await balanceOf(chain, wallet.address)).toBe(10n * price)
})

test('the order that holds a permission is not voided by itself', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id } = await shop.subscribe()
  expect(await shop.orders.void({ orderId: id })).toMatchObject({
    ok: false,
    reason: 'notOpen',
  })
  expect(await stateOf(shop, id)).toBe('active')
})

test('a revocation that costs too much now is sent later, and the subscription stays canceling', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id } = await shop.subscribe()
  await shop.workUntil(hasCharge(shop, id, 'captured'))
  const { store, account } = shop
  const policy = { pollingInterval: 20, maxFee: 1n }
  const thrifty = await openSubscriptionShop(chain, {
    store,
    account,
    changes: { policy },
  })
  await shop.subscriptions.cancel({ subscriptionId: id })
  await thrifty.workUntil(async () => {
    const { events } = await shop.orders.events()
    return events.some(({ type }) => type === 'cancelRejected')
  })
  expect(await stateOf(shop, id)).toBe('canceling')
  await shop.workUntil(isIn(shop, id, 'canceled'))
})

test('a permission is revoked although its signature does not open', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id } = await shop.subscribe()
  await shop.workUntil(hasCharge(shop, id, 'captured'))
  await shop.store.write(async ({ attempts }) => {
    const [attempt] = await attempts.find({ orderIds: [id] })
    if (attempt) await attempts.update([{ ...attempt, signature: 'broken' }])
  })
  await shop.subscriptions.cancel({ subscriptionId: id })
  await shop.workUntil(isIn(shop, id, 'canceled'))
})
