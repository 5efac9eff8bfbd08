import { parsePaymentPayload } from '@x402/core/schemas'
import type { Observation } from 'countersign/orders'
import type { Hex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { bodyOf, openFacilitator } from '../support/facilitatorShop.js'
import { shows } from '../support/shop.js'
import {
  type Sent,
  sign402,
  startFacilitatorChain,
} from '../support/stockFacilitator.js'

const chain = await startFacilitatorChain()
afterAll(() => chain.stop())

const observed: Observation[] = []
const shop = await openFacilitator(chain, {
  orders: { observe: (one) => observed.push(one) },
  callers: {
    one: { name: 'one' },
    narrow: { name: 'narrow', payTo: [] },
    other: { name: 'other', assets: [] },
    broken: { name: '' },
  },
})
afterAll(() => shop.orders.close())
const { payer: _, ...good } = await shop.pay()

type Body = ReturnType<typeof bodyOf>
const bodies: readonly [string, (body: Body) => unknown, string][] = [
  ['nothing', () => null, 'invalid_payload'],
  ['a list', () => [], 'invalid_payload'],
  ['text', () => 'x', 'invalid_payload'],
  ['no payload', ({ paymentPayload: _, ...rest }) => rest, 'invalid_payload'],
  [
    'no requirements',
    ({ paymentRequirements: _, ...rest }) => rest,
    'invalid_payment_requirements',
  ],
  [
    'version 1',
    (body) => ({ ...body, x402Version: 1 }),
    'invalid_x402_version',
  ],
  [
    'a payload of version 1',
    (body) => set(body, ['paymentPayload', 'x402Version'], 1),
    'invalid_x402_version',
  ],
  [
    'a payload without version',
    (body) => set(body, ['paymentPayload', 'x402Version'], undefined),
    'invalid_payload',
  ],
  [
    'nothing accepted',
    (body) => set(body, ['paymentPayload', 'accepted'], undefined),
    'invalid_payload',
  ],
  [
    'an empty payload',
    (body) => set(body, ['paymentPayload', 'payload'], {}),
    'invalid_payload',
  ],
  [
    'a payload that is a list',
    (body) => set(body, ['paymentPayload', 'payload'], []),
    'invalid_payload',
  ],
  [
    'a payload of Permit2',
    (body) =>
      set(body, ['paymentPayload', 'payload'], { permit2Authorization: {} }),
    'unsupported_payload_type',
  ],
  ...(
    ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'] as const
  ).flatMap((member): [string, (body: Body) => unknown, string][] =>
    [undefined, null, 5, '', '-1', '0x', '1e3', 'ü', {}, 'f'.repeat(100)].map(
      (value) => [
        `${member} as ${JSON.stringify(value)}`,
        (body) =>
          set(
            body,
            ['paymentPayload', 'payload', 'authorization', member],
            value,
          ),
        'invalid_payload',
      ],
    ),
  ),
  ...[undefined, null, 5, '', '0x', '0xzz', {}].map(
    (value): [string, (body: Body) => unknown, string] => [
      `a signature as ${JSON.stringify(value)}`,
      (body) => set(body, ['paymentPayload', 'payload', 'signature'], value),
      'invalid_payload',
    ],
  ),
  [
    'a signature of one byte',
    (body) => set(body, ['paymentPayload', 'payload', 'signature'], '0x11'),
    'invalid_exact_evm_signature',
  ],
  ...(
    [
      ['amount', '0'],
      ['amount', '1.5'],
      ['amount', '-1'],
      ['amount', 5],
      ['amount', '9'.repeat(79)],
      ['asset', 'USDC'],
      ['payTo', '0x1'],
      ['payTo', null],
      ['network', 'base'],
      ['network', 7],
      ['scheme', ''],
    ] as const
  ).map(([member, value]): [string, (body: Body) => unknown, string] => [
    `requirements with ${member} as ${JSON.stringify(value)}`,
    (body) => set(body, ['paymentRequirements', member], value),
    'invalid_payment_requirements',
  ]),
  [
    'a network that is no EVM chain',
    (body) => network(body, 'solana:mainnet'),
    'invalid_network',
  ],
  [
    'a chain that is not served',
    (body) => network(body, 'eip155:8453'),
    'invalid_network',
  ],
]

test.each(bodies)(
  'a body with %s is refused with the code of x402',
  async (_, change, code) => {
    const body = change(JSON.parse(JSON.stringify(bodyOf(good))))
    const verified = await shop.ask('verify', body)
    expect(verified.status).toBe(200)
    expect(await verified.json()).toMatchObject({
      isValid: false,
      invalidReason: code,
    })
    const settled = await shop.ask('settle', body)
    expect(settled.status).toBe(200)
    expect(await settled.json()).toMatchObject({
      success: false,
      errorReason: code,
      transaction: '',
      network: expect.stringContaining(':'),
    })
    expect((await shop.orders.list()).orders).toEqual([])
    expect((await shop.orders.events()).events).toEqual([])
  },
)

test('what is good by the schemas of x402 is good here', async () => {
  expect(parsePaymentPayload(good.paymentPayload).success).toBe(true)
  expect(await shop.verify(good)).toMatchObject({ isValid: true })
})

test.each(['narrow', 'other'])(
  'a caller settles only to recipients and in tokens of its own (%s)',
  async (key) => {
    const code = 'invalid_payment_requirements'
    expect(await shop.verify(good, key)).toMatchObject({ invalidReason: code })
    expect(await shop.settle(good, key)).toMatchObject({ errorReason: code })
  },
)

test.each([
  ['POST', '/settle', { authorization: 'stranger' }, '{}', 401],
  ['GET', '/supported', {}, undefined, 401],
  ['POST', '/settle', { authorization: 'broken' }, '{}', 500],
  ['POST', '/settle', { authorization: 'constructor' }, '{}', 401],
  ['POST', '/settle', { authorization: 'toString' }, '{}', 401],
  ['POST', '/settle', { authorization: 'valueOf' }, '{}', 401],
  ['POST', '/settle', { authorization: 'hasOwnProperty' }, '{}', 401],
  ['POST', '/settle', { authorization: '__proto__' }, '{}', 401],
  ['GET', '/settle', { authorization: 'one' }, undefined, 405],
  ['POST', '/supported', { authorization: 'one' }, '{}', 405],
  ['POST', '/other', { authorization: 'one' }, '{}', 404],
  ['POST', '/', { authorization: 'one' }, '{}', 404],
  [
    'POST',
    '/settle',
    { authorization: 'one', 'content-type': 'text/plain' },
    '{}',
    415,
  ],
  ['POST', '/settle', { authorization: 'one' }, '{', 400],
  ['POST', '/settle', { authorization: 'one' }, '', 400],
  ['POST', '/settle', { authorization: 'one' }, `"${'x'.repeat(70_000)}"`, 413],
])(
  '%s %s with %j is answered with a status',
  async (method, path, headers, body, status) => {
    const request = new Request(`http://facilitator.example${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: body ?? null,
    })
    const response = await shop.facilitator.handle(request)
    expect(response.status).toBe(status)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('content-type')).toBe('application/json')
    await response.json()
  },
)

test('what is supported is one kind a chain, with the accounts that send', async () => {
  const request = new Request('http://facilitator.example/supported', {
    headers: { authorization: 'one' },
  })
  const response = await shop.facilitator.handle(request)
  expect(await response.json()).toEqual({
    kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:31337' }],
    extensions: [],
    signers: { 'eip155:*': [shop.seller] },
  })
})

test('no signature is in an answer, an event, an observation or an error', async () => {
  const sent: Sent[] = [good]
  const answers: unknown[] = []
  const ask = async (one: Sent) => {
    sent.push(one)
    for (const route of ['verify', 'settle'] as const)
      answers.push(await (await shop.ask(route, bodyOf(one))).text())
  }
  const { payer, ...paid } = await shop.pay()
  await ask(paid)
  await ask(paid)
  await ask(await sign402(chain, payer, shop.seller))
  await ask(await shop.pay({ domain: { name: 'USDC' } }))
  await ask(malformed(await shop.pay()))
  const last = await shop.pay()
  await chain.pause()
  await ask(last)
  await chain.pause(false)

  const { events } = await shop.orders.events({ limit: 200 })
  const { orders } = await shop.orders.list({ limit: 200 })
  for (const one of sent) {
    const signature = one.paymentPayload.payload.signature as Hex
    expect(shows({ answers, events, orders, observed }, { signature })).toBe(
      false,
    )
  }
})

function malformed({ paymentPayload, paymentRequirements }: Sent): Sent {
  const { signature } = paymentPayload.payload
  return {
    paymentPayload: {
      ...paymentPayload,
      payload: { authorization: { from: signature }, signature },
    },
    paymentRequirements: {
      ...paymentRequirements,
      network: `eip155:${String(signature)}`,
    },
  }
}

function network(body: Body, name: `${string}:${string}`): unknown {
  set(body, ['paymentPayload', 'accepted', 'network'], name)
  return set(body, ['paymentRequirements', 'network'], name)
}

/** Sets a member deep in a body. */
function set(body: Body, path: readonly string[], value: unknown): unknown {
  const last = path.at(-1) ?? ''
  const parent = path
    .slice(0, -1)
    .reduce<Record<string, unknown>>((one, name) => Object(one[name]), body)
  parent[last] = value
  return body
}
