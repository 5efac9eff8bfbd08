import { type SignedPayment, signCancellation } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import type { Observation } from 'countersign/orders'
import { sealer } from 'countersign/store'
import { runWebhooks } from 'countersign/webhooks'
import { Webhook } from 'standardwebhooks'
import { createClient, http } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import {
  type Received,
  type Receiver,
  startReceiver,
} from '../../unit/support/webhooksReceiver.js'
import { createSecret, eventually } from '../../unit/support/webhooksRun.js'
import { fundedAccount } from '../support/desk.js'
import { webhookMisfits } from '../support/eventContract.js'
import { findSecrets, secretForms } from '../support/secretForms.js'
import { cancelPageOf } from '../support/settle.js'
import { openShop, pay, type Shop, storedOrder } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

type Told = { seen: Observation[]; secrets: string[] }

/** Has the shop's worker and its webhooks run until the test is over. */
function startShop({ orders, store }: Shop, receiver: Receiver): Told {
  const stopping = new AbortController()
  const { signal } = stopping
  const secrets = [createSecret(), createSecret()]
  const seen: Observation[] = []
  const running = Promise.all([
    orders.run({ signal }),
    runWebhooks(orders, {
      store,
      signal,
      observe: (it) => seen.push(it),
      targets: [
        {
          name: 'warehouse',
          url: receiver.url,
          ca: receiver.ca,
          secrets,
          privateHosts: ['localhost'],
        },
      ],
    }),
  ])
  onTestFinished(async () => {
    stopping.abort()
    await running
    await orders.close()
  })
  return { seen, secrets }
}

const newShop = (): Promise<Shop> =>
  openShop(chain, {
    seal: sealer({
      keys: { first: crypto.getRandomValues(new Uint8Array(32)) },
      current: 'first',
    }),
    policy: {
      fulfilAt: 'included',
      relayCancellations: 'always',
      pollingInterval: 50,
    },
  })

const typesOf = ({ received }: Receiver, id: string): string[] =>
  received
    .filter(({ payload }) => payload.data.orderId === id)
    .map(({ payload }) => payload.type)

const verify = (secret: string, { text, headers }: Received): unknown =>
  new Webhook(secret).verify(text, headers as Record<string, string>)

test('a captured order is told to a receiver of https, in order and signed', async () => {
  const shop = await newShop()
  const receiver = await startReceiver()
  const { secrets } = startShop(shop, receiver)
  const { id, buyer } = await storedOrder(chain, shop)
  const result = await shop.orders.capture({ orderId: id })
  await eventually(() => typesOf(receiver, id)).toContain('order.fulfil')
  const told = receiver.received.filter(
    ({ payload }) => payload.data.orderId === id,
  )
  expect(typesOf(receiver, id)).toEqual([
    'order.drafted',
    'order.accepted',
    'order.captureRequested',
    'order.capturing',
    'order.captured',
    'order.fulfil',
  ])
  expect(told.map(({ payload }) => payload.data.sequence)).toEqual([
    ...[1, 2, 3, 4, 5, 6],
  ])
  for (const it of told)
    for (const secret of secrets) expect(verify(secret, it)).toEqual(it.payload)
  expect(told.map(({ payload }) => webhookMisfits(payload))).toEqual(
    told.map(() => undefined),
  )
  if (result.status !== 'captured') throw new Error(result.status)
  const { proof } = result
  expect(told[4]?.payload.data).toEqual({
    orderId: id,
    sequence: 5,
    chainId: 31337,
    token: chain.token,
    recipient: shop.seller,
    at: expect.stringMatching(/^\d{13}$/),
    transactionHash: proof.transactionHash,
    logIndex: proof.logIndex,
    blockNumber: String(proof.blockNumber),
    value: '12500000',
    submitter: shop.seller,
  })
  expect(told[1]?.payload.data).toHaveProperty(
    'payer',
    buyer.address.toLowerCase(),
  )
})

test('a receiver that fails for a while is told everything once it is back', async () => {
  const shop = await newShop()
  const receiver = await startReceiver((response, _, index) => {
    if (index < 2) response.writeHead(503, { 'retry-after': '1' }).end()
    else response.writeHead(200).end()
  })
  const { seen } = startShop(shop, receiver)
  const { id } = await storedOrder(chain, shop)
  await shop.orders.void({ orderId: id })
  await eventually(() => typesOf(receiver, id)).toEqual([
    ...Array(3).fill('order.drafted'),
    ...['order.accepted', 'order.voided'],
  ])
  await eventually(() => seen.map(({ name }) => name)).toEqual([
    ...Array(2).fill('webhook.failed'),
    ...Array(3).fill('webhook.delivered'),
  ])
})

/** An order whose buyer takes the payment back. */
async function cancel(shop: Shop): Promise<SignedPayment> {
  const { id, buyer, signed } = await storedOrder(chain, shop)
  const asked = await shop.orders.cancellationToSign({ orderId: id })
  if (!asked.ok) throw new Error(asked.reason)
  const wallet = createClient({
    account: buyer,
    chain: chain.chain,
    transport: http(),
  })
  const { cancellation } = asked
  const canceled = await signCancellation(wallet, {
    cancellation,
    expect: cancelPageOf(cancellation),
  })
  await shop.orders.acceptCancellation({ orderId: id, cancellation: canceled })
  return { ...signed, signature: canceled.signature }
}

test('neither bodies nor headers nor what is observed hold a secret', async () => {
  const shop = await newShop()
  const receiver = await startReceiver((response, _, index) =>
    response.writeHead(index === 0 ? 500 : 200).end(),
  )
  const { seen, secrets } = startShop(shop, receiver)
  const { signed, id } = await storedOrder(chain, shop)
  await shop.orders.capture({ orderId: id })
  const canceled = await cancel(shop)
  const buyer = await fundedAccount(chain, 12_500_000n)
  const drafted = await shop.orders.draft({ amount: '12.50' })
  const refused = await pay(buyer, drafted.payment, { value: 1n })
  await shop.orders.accept({ orderId: drafted.order.id, payment: refused })
  const told = () => receiver.received.map(({ payload }) => payload.type)
  await eventually(told).toEqual(
    expect.arrayContaining(['order.fulfil', 'order.canceled']),
  )
  for (const { payload } of receiver.received)
    expect(webhookMisfits(payload)).toBeUndefined()
  const content = Buffer.from(JSON.stringify([receiver.received, seen]))
  const forms = [signed, canceled, refused].flatMap(({ signature }) =>
    secretForms(signature),
  )
  expect(findSecrets(content, forms)).toEqual([])
  for (const secret of [drafted.buyerToken, ...secrets])
    expect(content.includes(secret.replace('whsec_', ''))).toBe(false)
})
