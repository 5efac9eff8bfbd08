/**
 * A subscription: a smart wallet signs once, and is charged in three periods
 * within ten seconds. Then it has no funds for a fourth one.
 *
 *     npm run subscription
 */
import { startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import {
  createSubscriptions,
  spendPermissionManager,
  spendPermissions,
  spendPermissionTypedData,
} from 'countersign/subscriptions'
import { toCoinbaseSmartAccount } from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const chain = await startDevChain({ blockTime: 0.2, spendPermissions: true })
const { merchant, public: client } = chain.clients

const orders = createOrders({
  store: memoryStore({ volatile: true }),
  seal: 'none',
  tokens: [{ client, token: chain.token }],
  wallets: [merchant],
  kinds: [spendPermissions()],
  // A period of three seconds leaves no time for the usual margins.
  policy: { safetyMargin: 1n, pollingInterval: 100, fulfilAt: 'included' },
})
const subscriptions = createSubscriptions({
  orders,
  policy: { retries: 1, retryAfter: 1n },
})
const stop = new AbortController()
const { signal } = stop

try {
  // A wallet as Base makes them, with the manager among its owners. Its first
  // charge deploys it.
  const wallet = await toCoinbaseSmartAccount({
    client,
    owners: [privateKeyToAccount(generatePrivateKey()), spendPermissionManager],
    version: '1.1',
  })
  await chain.mint({ to: wallet.address, value: 30_000_000n })

  const { subscription, permission } = await subscriptions.draft({
    account: wallet.address,
    amount: '10',
    period: 3n,
    periods: 5,
  })
  const { id: subscriptionId } = subscription
  const signature = await wallet.signTypedData(
    spendPermissionTypedData(permission),
  )
  const verdict = await subscriptions.accept({ subscriptionId, signature })
  if (!verdict.ok) throw new Error(verdict.reason)
  console.log('Signed once: 10.00 every 3 seconds, 5 times at most.')

  const working = Promise.all([
    orders.run({ signal }),
    subscriptions.run({ signal }),
  ])
  let after = 0n
  for (let state = 'active'; state !== 'unpaid'; ) {
    const page = await orders.events({ after })
    for (const { type, orderId, data, cursor } of page.events) {
      after = cursor
      if (type === 'captured')
        console.log(
          `  ${orderId?.split('/')[1]}: paid in block ${data.blockNumber}`,
        )
      if (type === 'subscriptionPastDue' || type === 'subscriptionUnpaid')
        console.log(`  period-${data.period}: ${data.reason} (${type})`)
    }
    state = (await subscriptions.get({ subscriptionId })).state
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  console.log('The schedule gave up. The merchant cancels:')
  await subscriptions.cancel({ subscriptionId })
  for (let state = 'canceling'; state === 'canceling'; ) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    state = (await subscriptions.get({ subscriptionId })).state
    if (state === 'canceled') console.log('  revoked on chain.')
  }
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
