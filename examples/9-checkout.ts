/**
 * A total that is known later: the payer signs a ceiling, adds a tip after
 * that, and the merchant captures the sum, once.
 *
 *     npm run checkout
 */
import { setTimeout } from 'node:timers/promises'
import { signCancellation, signPayment } from 'countersign'
import { checkout, checkoutDeployment } from 'countersign/checkout'
import { startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { memoryStore, sealer } from 'countersign/store'
import { sendTransaction, waitForTransactionReceipt } from 'viem/actions'

const chain = await startDevChain()
const { token, clients } = chain
const { payer, merchant, relayer, public: reader } = clients
const chainId = chain.chain.id

// Each chain needs the contract once, from anyone, at one known address.
const deployed = await sendTransaction(relayer, checkoutDeployment())
await waitForTransactionReceipt(reader, { hash: deployed })

const client = createReadClient({ url: chain.urls.http, chain: chain.chain })
const orders = createOrders({
  store: memoryStore({ volatile: true }),
  seal: sealer({
    keys: { 'key-1': crypto.getRandomValues(new Uint8Array(32)) },
    current: 'key-1',
  }),
  tokens: [{ client, token }],
  wallets: [merchant],
  kinds: [checkout],
  policy: { relayCancellations: 'always' },
})

/** Drafts an order of at most 50.00, has it signed, and accepts it. */
async function sell(): Promise<string> {
  const from = payer.account.address
  const { order, payment } = await orders.draft({
    atMost: '50.00',
    payer: from,
  })
  const signed = await signPayment(payer, {
    payment: { ...payment, message: { ...payment.message, from } },
    kind: checkout,
    expect: { chainId, token, to: merchant.account.address, atMost: '50.00' },
  })
  const orderId = order.id
  const verdict = await orders.accept({ orderId, payment: signed })
  console.log(`The payer signed at most 50.00; accepted: ${verdict.ok}.`)
  return orderId
}

async function capture(orderId: string, amount: string): Promise<void> {
  const result = await orders.capture({ orderId, amount })
  const why = result.status === 'rejected' ? `, ${result.reason}` : ''
  console.log(`  ${amount}: ${result.status}${why}`)
}

const stopping = new AbortController()
const worker = orders.run({ signal: stopping.signal })
try {
  const meal = await sell()
  console.log('36.60, and a tip that nobody knew when the payer signed:')
  await capture(meal, '42.10')
  console.log('A second capture, of the rest:')
  await capture(meal, '7.90')

  const taxi = await sell()
  console.log('More than the ceiling:')
  await capture(taxi, '50.01')

  const asked = await orders.cancellationToSign({ orderId: taxi })
  if (!asked.ok) throw new Error(asked.reason)
  const { cancellation } = asked
  const expect = { chainId, token }
  const signed = await signCancellation(payer, { cancellation, expect })
  await orders.acceptCancellation({ orderId: taxi, cancellation: signed })
  while ((await orders.get({ orderId: taxi })).state !== 'canceled')
    await setTimeout(50)
  console.log('After the payer canceled it:')
  await capture(taxi, '1.00')
} finally {
  stopping.abort()
  await worker
  await orders.close()
  await chain.stop()
}
