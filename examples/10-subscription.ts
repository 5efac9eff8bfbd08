/**
 * A subscription: a smart wallet signs once, and is charged for three months
 * within ten seconds, because the chain's clock is moved. Then it has no funds
 * for a fourth one.
 *
 *     npm run subscription
 */
import { startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import {
  createSubscriptions,
  spendPermissions,
  spendPermissionTypedData,
} from 'countersign/subscriptions'
import { follow, openWallet, pass } from './subscription/stage.js'

const day = 86_400n
const month = 30n * day
const chain = await startDevChain({ blockTime: 0.2, spendPermissions: true })
const { merchant, public: client } = chain.clients

const orders = createOrders({
  store: memoryStore({ volatile: true }),
  seal: 'none',
  tokens: [{ client, token: chain.token }],
  wallets: [merchant],
  kinds: [spendPermissions()],
  policy: { pollingInterval: 50, fulfilAt: 'included' },
})
const subscriptions = createSubscriptions({
  orders,
  policy: { retries: 1, retryAfter: day },
})
const stop = new AbortController()
const { signal } = stop

const tell = follow(orders)

try {
  const wallet = await openWallet(chain, 30_000_000n)
  const { subscription, permission } = await subscriptions.draft({
    account: wallet.address,
    amount: '10',
    period: month,
    periods: 12,
  })
  const { id: subscriptionId } = subscription
  const signature = await wallet.signTypedData(
    spendPermissionTypedData(permission),
  )
  const verdict = await subscriptions.accept({ subscriptionId, signature })
  if (!verdict.ok) throw new Error(verdict.reason)
  console.log('Signed once: 10.00 every 30 days, for a year.')

  const working = Promise.all([
    orders.run({ signal }),
    subscriptions.run({ signal }),
  ])
  await tell('captured')
  await pass(chain, month)
  await tell('captured')
  await pass(chain, month)
  await tell('captured')
  await pass(chain, month)
  await tell('subscriptionPastDue')
  await pass(chain, day)
  await tell('subscriptionUnpaid')
  console.log('The schedule gave up, and the merchant cancels:')
  await subscriptions.cancel({ subscriptionId })
  await tell('canceled')
  const { charges } = await subscriptions.charges({ subscriptionId })
  const paid = charges.filter(({ capture }) => capture).length
  const { ok } = await orders.audit()
  console.log(`${paid} charges paid; the books agree with the chain: ${ok}.`)
  stop.abort()
  await working
} finally {
  stop.abort()
  await orders.close()
  await chain.stop()
}
