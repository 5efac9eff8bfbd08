import {
  captureCall,
  decodePayment,
  encodePayment,
  parseAmount,
  signPayment,
} from 'countersign'
import { createPaymentHandler } from 'countersign/http'
import { createOrders } from 'countersign/orders'
import { createReadClient, watchLogs } from 'countersign/reads'
import { memoryStore, sealer } from 'countersign/store'
import { samplePayment } from 'countersign/testing'
import { createFacilitator, createX402Gate } from 'countersign/x402'
import { createClient, custom } from 'viem'
import { base } from 'viem/chains'
import { afterAll, expect, test } from 'vitest'
import { messageOf } from './messageOf.js'

const transport = custom({ request: async () => null })
const account = '0x1111111111111111111111111111111111111111' as const
const client = createClient({ chain: base, transport, account })
const token = samplePayment().domain.verifyingContract
const parameters = {
  store: memoryStore(),
  seal: 'none',
  tokens: [{ client, token }],
  wallets: [client],
} as const
const orders = createOrders(parameters)
afterAll(() => orders.close())

/** As JavaScript passes it, where no type is in the way. */
const untyped = (value: unknown): never => value as never

const written = JSON.parse(encodePayment(samplePayment()))
const signature = `0x${'5ec2e7'.repeat(21)}5e1b`
const privateKey = `0x${'5ec2e7'.repeat(10)}5ec2`
const buyerToken = 'buy_5ec2e75ec2e7'
const bearer = 'Bearer 5ec2e75ec2e7'
const database = 'postgres://shop:5ec2e7@db.example/shop'
const nodeUrl = 'ftp://node.example/5ec2e7'

const withOrders = (changes: object) => () =>
  createOrders(untyped({ ...parameters, ...changes }))
const withNode = (changes: object) => () =>
  createReadClient(untyped({ url: 'https://node.example', ...changes }))

test.each<[string, () => unknown]>([
  ['a key as the wallets', withOrders({ wallets: privateKey })],
  ['a database as the store', withOrders({ store: database })],
  ['a node as the tokens', withOrders({ tokens: nodeUrl })],
  ['a header as the observer', withOrders({ observe: bearer })],
  ['a node as the kinds', withOrders({ kinds: nodeUrl })],
  ['a kind that is a node', withOrders({ kinds: [nodeUrl] })],
  ['a URL that is none of a node', withNode({ url: nodeUrl })],
  ['a key as the keys of a seal', () => sealer(untyped({ keys: privateKey }))],
  [
    'a key as the lost keys of a seal',
    () =>
      sealer(
        untyped({
          keys: { a: new Uint8Array(32) },
          current: 'a',
          lost: privateKey,
        }),
      ),
  ],
  [
    'a header as what authorizes',
    () => createPaymentHandler(orders, untyped({ authorize: bearer })),
  ],
  [
    'a token of a buyer as what authorizes',
    () => createFacilitator(untyped({ orders, authorize: buyerToken })),
  ],
  [
    'a header as the caller of a facilitator',
    () =>
      createFacilitator(
        untyped({ orders, authorize: () => undefined }),
      ).schemeFor(untyped(bearer)),
  ],
  [
    'a node as the resource of a gate',
    () =>
      createX402Gate(
        untyped({ orders, offers: { work: {} }, resource: nodeUrl }),
      ),
  ],
  [
    'a node as the offers of a gate',
    () => createX402Gate(untyped({ orders, offers: { work: nodeUrl } })),
  ],
  [
    'a token of a buyer as the metadata',
    () => orders.draft(untyped({ amount: '1', metadata: buyerToken })),
  ],
  ['a header as the signal', () => orders.run(untyped({ signal: bearer }))],
  [
    'a node as the socket of logs',
    () =>
      watchLogs(
        client,
        untyped({
          address: token,
          onEvent: () => undefined,
          finality: 'safe',
          webSocket: nodeUrl,
        }),
      ),
  ],
  [
    'a node as what receives logs',
    () => watchLogs(client, untyped({ address: token, onEvent: nodeUrl })),
  ],
  [
    'a key as the wallet that signs',
    () =>
      signPayment(untyped(privateKey), {
        payment: samplePayment(),
        expect: {
          chainId: samplePayment().domain.chainId,
          token,
          to: samplePayment().message.to,
          amount: '12.50',
          maxWindow: 2n ** 60n,
        },
      }),
  ],
  [
    'half of a signature',
    () =>
      captureCall({
        payment: untyped({ ...samplePayment(), signature: '0x5ec2e7' }),
      }),
  ],
  [
    'a signature in a signed payment that is no hex',
    () => decodePayment({ ...written, signature: '5ec2e7' }),
  ],
])('%s is never shown', async (_, work) => {
  expect(await messageOf(work)).not.toContain('5ec2e7')
})

test.each<[string, () => unknown]>([
  [
    'the nonce of a payment',
    () =>
      decodePayment({
        ...written,
        message: { ...written.message, nonce: signature },
      }),
  ],
  ['an amount', () => parseAmount(signature)],
  ['an id', () => orders.get(untyped({ orderId: `${signature}\n` }))],
  ['a recipient', withOrders({ recipients: [signature] })],
])('a signature as %s cannot be read', async (_, work) => {
  expect(await messageOf(work)).not.toContain(signature.slice(0, 13))
})

test.each<[string, () => unknown, string]>([
  [
    'a worker without a signal',
    () => orders.run(untyped({})),
    'signal must be an AbortSignal, not undefined.',
  ],
  [
    'a gate without offers',
    () => createX402Gate({ orders, offers: {} }),
    'offers must be one or more, not 0 (number).',
  ],
  [
    'an unknown member beside a signature',
    () => decodePayment({ ...written, sigh: 1 }),
    'payment must be an object with only the members primaryType, domain, message, signature, not "sigh".',
  ],
  [
    'a payment that is not signed',
    () => captureCall({ payment: untyped(samplePayment()) }),
    'signature must be a wallet signature, not undefined. It is not signed.',
  ],
])('%s gets a plain sentence', async (_, work, message) => {
  expect(await messageOf(work)).toBe(message)
})
