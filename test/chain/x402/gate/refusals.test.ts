import {
  decodePaymentSignatureHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http'
import type { PaymentPayload } from '@x402/core/types'
import { type Address, type Hex, serializeErc6492Signature } from 'viem'
import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import {
  balanceOf,
  chain,
  countOrders,
  openGateShop,
  price,
  requiredBy,
  signFor,
} from '../../support/x402Desk.js'

let runs = 0
const told: unknown[] = []
const shop = await openGateShop(
  { offers: { dear: { amount: '0.010001' } } },
  { observe: (observation) => told.push(observation) },
)
const sell = (offer: string) =>
  shop.gate.protect(offer, () => {
    runs++
    return new Response('done')
  })
const work = sell('work')
const address = 'https://shop.example/work'

const send = (header: string, url = address, name = 'PAYMENT-SIGNATURE') =>
  work(new Request(url, { headers: { [name]: header } }))

/** A good header, and its payload to be spoiled. */
async function good(): Promise<{ header: string; payload: PaymentPayload }> {
  const account = await fundedAccount(chain, price)
  const header = await signFor(account, await work(new Request(address)))
  return { header, payload: decodePaymentSignatureHeader(header) }
}

const authorizationOf = ({ payload }: PaymentPayload) =>
  Object(payload.authorization)

const withAuthorization = (
  payload: PaymentPayload,
  changes: Record<string, unknown>,
): PaymentPayload => ({
  ...payload,
  payload: {
    ...payload.payload,
    authorization: { ...authorizationOf(payload), ...changes },
  },
})

const withSignature = (payload: PaymentPayload, signature: Hex) => ({
  ...payload,
  payload: { ...payload.payload, signature },
})

/** As for a wallet that this call deploys (ERC-6492). */
const wrap = (signature: Hex) => {
  const address: Address = `0x${'12'.repeat(20)}`
  return serializeErc6492Signature({ address, data: '0x1234', signature })
}

const withAccepted = (
  payload: PaymentPayload,
  changes: Partial<PaymentPayload['accepted']>,
): PaymentPayload => ({
  ...payload,
  accepted: { ...payload.accepted, ...changes },
})

const now = () => Math.floor(Date.now() / 1000)
const evm = 'invalid_exact_evm_'

const spoiled: readonly (readonly [
  string,
  (payload: PaymentPayload) => PaymentPayload,
  string,
])[] = [
  [
    'another network',
    (one) => withAccepted(one, { network: 'eip155:8453' }),
    'invalid_network',
  ],
  [
    'an unknown scheme',
    (one) => withAccepted(one, { scheme: 'upto' }),
    'unsupported_scheme',
  ],
  [
    'another asset',
    (one) => withAccepted(one, { asset: one.accepted.payTo }),
    'invalid_payment_requirements',
  ],
  [
    'another recipient',
    (one) => withAccepted(one, { payTo: one.accepted.asset }),
    'invalid_payment_requirements',
  ],
  [
    'an accepted amount of one unit less',
    (one) => withAccepted(one, { amount: '9999' }),
    'invalid_payment_requirements',
  ],
  [
    'a signed amount of one unit less',
    (one) => withAuthorization(one, { value: '9999' }),
    `${evm}payload_authorization_value_mismatch`,
  ],
  [
    'a signed amount of one unit more',
    (one) => withAuthorization(one, { value: '10001' }),
    `${evm}payload_authorization_value_mismatch`,
  ],
  [
    'somebody else to pay',
    (one) => withAuthorization(one, { to: `0x${'12'.repeat(20)}` }),
    `${evm}recipient_mismatch`,
  ],
  [
    'a payment that is over',
    (one) => withAuthorization(one, { validBefore: String(now() - 1) }),
    `${evm}payload_authorization_valid_before`,
  ],
  [
    'a payment that is about to end',
    (one) => withAuthorization(one, { validBefore: String(now() + 10) }),
    `${evm}signature`,
  ],
  [
    'a payment that begins later',
    (one) => withAuthorization(one, { validAfter: String(now() + 1000) }),
    `${evm}payload_authorization_valid_after`,
  ],
  [
    'another nonce than the one signed',
    (one) => withAuthorization(one, { nonce: `0x${'34'.repeat(32)}` }),
    `${evm}signature`,
  ],
  [
    'another payer than the one who signed',
    (one) => withAuthorization(one, { from: `0x${'56'.repeat(20)}` }),
    `${evm}signature`,
  ],
  [
    'a signature of too few bytes',
    (one) => withSignature(one, '0x1234'),
    `${evm}signature`,
  ],
  [
    'a signature that is wrapped twice',
    (one) => withSignature(one, wrap(wrap(Object(one.payload).signature))),
    `${evm}signature`,
  ],
  [
    'a payload of Permit2',
    (one) => ({ ...one, payload: { permit2Authorization: {} } }),
    'unsupported_payload_type',
  ],
  ['no payload', (one) => ({ ...one, payload: {} }), 'invalid_payload'],
  ['version 1', (one) => ({ ...one, x402Version: 1 }), 'invalid_x402_version'],
]

test.each(spoiled)('a payment with %s is refused', async (_, spoil, code) => {
  const { payload } = await good()
  const before = await countOrders(shop.orders)
  const header = encodePaymentSignatureHeader(spoil(payload))
  const response = await send(header)
  await expectRefusal(response, { code, header, payload })
  expect(await countOrders(shop.orders)).toBe(before)
})

test.each([
  ['no base64', '{"a":1}'],
  ['no JSON', btoa('{"x402Version":2,')],
  ['a number', btoa('2')],
  ['nothing', ' '],
])('a header with %s is refused', async (_, header) => {
  const response = await send(header)
  expect(response.status).toBe(402)
  expect(requiredBy(response).error).toBe('invalid_payload')
})

test('a header above 8 kB is refused', async () => {
  const { payload } = await good()
  const header = encodePaymentSignatureHeader({
    ...payload,
    extensions: { filler: { text: 'x'.repeat(8_000) } },
  })
  await expectRefusal(await send(header), {
    code: 'invalid_payload',
    header,
    payload,
  })
})

test('a header of version 1 is refused, with words', async () => {
  const { header } = await good()
  const response = await send(header, address, 'X-PAYMENT')
  expect(response.status).toBe(402)
  expect(requiredBy(response).error).toBe('invalid_x402_version')
  expect(await response.json()).toEqual({
    error: 'invalid_x402_version',
    message:
      'Version 1 of x402 (X-PAYMENT) is not supported. Pay with version 2 (PAYMENT-SIGNATURE).',
  })
})

test('a payment is good for one resource, method, body and offer', async () => {
  const { header } = await good()
  const headers = { 'PAYMENT-SIGNATURE': header }
  expect((await send(header)).status).toBe(200)
  const before = runs
  const others = [
    await send(header, `${address}?more`),
    await work(new Request(address, { method: 'POST', headers })),
    await work(new Request(address, { method: 'POST', headers, body: 'x' })),
    await sell('upfront')(new Request(address, { headers })),
    await sell('dear')(new Request(address, { headers })),
  ].map((response) => [response.status, requiredBy(response).error])
  const spent = [402, 'invalid_exact_evm_nonce_already_used']
  const terms = [402, 'invalid_payment_requirements']
  expect(others).toEqual([spent, spent, spent, terms, terms])
  expect(runs).toBe(before)
})

test('the payment of a checkout order is refused', async () => {
  const { payload } = await good()
  const { payment, order } = await shop.orders.draft({
    amount: '0.01',
    primaryType: 'TransferWithAuthorization',
  })
  const { nonce } = payment.message
  const header = encodePaymentSignatureHeader(
    withAuthorization(payload, { nonce }),
  )
  await expectRefusal(await send(header), {
    code: 'invalid_exact_evm_nonce_already_used',
    header,
    payload,
  })
  expect((await shop.orders.get({ orderId: order.id })).state).toBe('drafted')
})

test('a payer without the funds is refused', async () => {
  const poor = await fundedAccount(chain, price - 1n)
  const header = await signFor(poor, await work(new Request(address)))
  const payload = decodePaymentSignatureHeader(header)
  await expectRefusal(await send(header), {
    code: 'invalid_exact_evm_insufficient_balance',
    header,
    payload,
  })
  expect(await balanceOf(poor.address)).toBe(price - 1n)
})

test('a body above the limit is refused', async () => {
  const small = await openGateShop({ mostRequestBytes: 10 })
  const sold = small.gate.protect('work', () => new Response('done'))
  const account = await fundedAccount(chain, price)
  const header = await signFor(account, await sold(new Request(address)))
  const response = await sold(
    new Request(address, {
      method: 'POST',
      body: 'x'.repeat(11),
      headers: { 'PAYMENT-SIGNATURE': header },
    }),
  )
  expect(response.status).toBe(413)
  expect(await countOrders(small.orders)).toBe(0)
})

test('no refusal was worked for, and none told a signature to a watcher', async () => {
  const text = JSON.stringify(told, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(text).toContain('x402.answer')
  expect(text).not.toMatch(/[\da-f]{130}/)
  // One of the tests above paid for what it got.
  expect(runs).toBe(1)
})

async function expectRefusal(
  response: Response,
  {
    code,
    header,
    payload,
  }: { code: string; header: string; payload: PaymentPayload },
): Promise<void> {
  expect(response.status).toBe(402)
  expect(requiredBy(response).error).toBe(code)
  expect(requiredBy(response).accepts).toHaveLength(1)
  expect(response.headers.get('cache-control')).toBe('no-store')
  const shown = [
    await response.text(),
    ...[...response.headers].map(([, value]) => value),
    JSON.stringify(requiredBy(response)),
  ].join()
  expect(shown).not.toContain(header)
  expect(shown).not.toContain(String(payload.payload.signature).slice(2, 66))
}
