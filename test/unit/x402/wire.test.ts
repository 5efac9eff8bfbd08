import {
  decodePaymentRequiredHeader,
  decodePaymentSignatureHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http'
import {
  PaymentRequiredV2Schema,
  PaymentRequirementsV2Schema,
  parsePaymentPayload as parseTheirs,
} from '@x402/core/schemas'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { getAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { errorCodeOf } from '../../../src/x402/wire/errorCodes.js'
import {
  decodePaymentHeader,
  encodeHeader,
  mostHeaderLength,
  parsePaymentPayload,
  redactHeaders,
} from '../../../src/x402/wire/headers.js'
import {
  chainIdOf,
  type ExactTerms,
  matchTerms,
  requirementsOf,
} from '../../../src/x402/wire/requirements.js'
import {
  toExactPayload,
  toSignedPayment,
} from '../../../src/x402/wire/toSignedPayment.js'

const payer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const terms: ExactTerms = {
  domain: {
    name: 'USD Coin',
    version: '2',
    chainId: 8453,
    verifyingContract: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  },
  recipient: '0x00000000000000000000000000000000000000b0',
  value: 10_000n,
  flow: 'authorization',
  maxTimeoutSeconds: 300,
}

/** What a stock client sends for these terms. */
async function stockPayload(asked = requirementsOf(terms)) {
  const scheme = new ExactEvmScheme(payer)
  const { payload } = await scheme.createPaymentPayload(2, asked)
  return { x402Version: 2, accepted: asked, payload }
}

test.each(['authorization', 'upfront'] as const)(
  'the terms of the flow %s are requirements by the schema of x402',
  (flow) => {
    const requirements = requirementsOf({ ...terms, flow })
    expect(PaymentRequirementsV2Schema.parse(requirements)).toEqual(
      requirements,
    )
    expect(requirements.asset).toBe(
      getAddress('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
    )
  },
)

test('a header we write is read by x402, with text beyond ASCII', () => {
  const required = {
    x402Version: 2,
    resource: { url: 'https://api.example/r', description: 'Wetter für 東京' },
    accepts: [requirementsOf(terms)],
  }
  const read = decodePaymentRequiredHeader(encodeHeader(required))
  expect(PaymentRequiredV2Schema.parse(read)).toEqual(required)
})

test('the header of a stock client becomes the payment that it signed', async () => {
  const sent = await stockPayload()
  const decoded = decodePaymentHeader(encodePaymentSignatureHeader(sent))
  expect(parseTheirs(sent).success).toBe(true)
  if (!decoded.ok) throw new Error(decoded.code)
  expect(decoded.payload).toEqual(sent)
  const found = toSignedPayment(decoded.payload, terms.domain)
  if (!found.ok) throw new Error(found.code)
  expect(found.payment).toMatchObject({
    primaryType: 'TransferWithAuthorization',
    domain: terms.domain,
    message: {
      from: payer.address.toLowerCase(),
      to: terms.recipient,
      value: 10_000n,
    },
  })
  expect(toExactPayload(found.payment)).toMatchObject({
    signature: String(sent.payload.signature).toLowerCase(),
  })
})

test('the hash of a payload does not depend on the order of its members', async () => {
  const { accepted, payload, x402Version } = await stockPayload()
  const one = decodePaymentHeader(
    encodeHeader({ x402Version, accepted, payload }),
  )
  const other = decodePaymentHeader(
    encodeHeader({ payload, accepted, x402Version }),
  )
  const changed = decodePaymentHeader(
    encodeHeader({ payload, accepted, x402Version, extensions: {} }),
  )
  if (!one.ok || !other.ok || !changed.ok) throw new Error('refused')
  expect(one.hash).toBe(other.hash)
  expect(changed.hash).not.toBe(one.hash)
})

test.each([
  ['no base64', '{"x402Version":2}', 'invalid_payload'],
  ['no JSON', btoa('{"x402Version":2'), 'invalid_payload'],
  ['no UTF-8', btoa('"\xff"'), 'invalid_payload'],
  ['a list', encodeHeader([]), 'invalid_payload'],
  ['no version', encodeHeader({ payload: {} }), 'invalid_payload'],
  [
    'version 1',
    encodeHeader({ x402Version: 1, scheme: 'exact', network: 'base' }),
    'invalid_x402_version',
  ],
  [
    'no terms',
    encodeHeader({ x402Version: 2, payload: {} }),
    'invalid_payload',
  ],
])('a header with %s is refused', (_, header, code) => {
  expect(decodePaymentHeader(header)).toEqual({ ok: false, code })
})

test('a header above 8 kB is refused before it is decoded', async () => {
  const sent = {
    ...(await stockPayload()),
    extensions: { x: 'x'.repeat(9000) },
  }
  const header = encodePaymentSignatureHeader(sent)
  expect(header.length).toBeGreaterThan(mostHeaderLength)
  expect(decodePaymentSignatureHeader(header)).toEqual(sent)
  expect(decodePaymentHeader(header)).toEqual({
    ok: false,
    code: 'invalid_payload',
  })
})

test.each(['payload', 'accepted', 'extensions'])(
  'a header whose %s nests deeper than any payment is refused',
  async (name) => {
    const sent = await stockPayload()
    const lists = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
    const text = JSON.stringify({
      ...sent,
      [name]: { ...Object(Reflect.get(sent, name)), deep: 'lists' },
    }).replace('"lists"', lists)
    expect(parsePaymentPayload(JSON.parse(text))).toEqual({
      ok: false,
      code: 'invalid_payload',
    })
    const small = text.replace(lists, '[[[]]]')
    expect(parsePaymentPayload(JSON.parse(small)).ok).toBe(true)
  },
)

test('terms match only when every member that was offered is there', async () => {
  const asked = requirementsOf(terms)
  const other = requirementsOf({ ...terms, flow: 'upfront' })
  const match = (accepted: typeof asked) =>
    matchTerms([other, asked], { accepted })
  expect(match({ ...asked })).toEqual({ ok: true, index: 1 })
  const refused = [
    match({ ...asked, scheme: 'upto' }),
    match({ ...asked, network: 'eip155:1' }),
    match({ ...asked, amount: '9999' }),
    match({ ...asked, asset: terms.recipient }),
    match({ ...asked, payTo: payer.address }),
    match({ ...asked, extra: { ...asked.extra, name: 'USDC' } }),
    match({ ...asked, extra: { name: asked.extra?.name } }),
    match({ ...asked, extra: { ...asked.extra, paymentFlow: 'later' } }),
  ].map((verdict) => (verdict.ok ? 'ok' : verdict.code))
  expect(refused).toEqual([
    'unsupported_scheme',
    'invalid_network',
    ...Array.from({ length: 6 }, () => 'invalid_payment_requirements'),
  ])
})

test('members that the client adds to the terms do not matter, but the flow does', () => {
  const asked = requirementsOf(terms)
  const upfront = requirementsOf({ ...terms, flow: 'upfront' })
  const more = { assetTransferMethod: 'eip3009' }
  const indexOf = (extra: Record<string, unknown>) => {
    const accepted = { ...asked, more: 1, extra: { ...asked.extra, ...extra } }
    const matched = matchTerms([asked, upfront], { accepted })
    return matched.ok ? matched.index : undefined
  }
  expect(indexOf(more)).toBe(0)
  expect(indexOf({ ...more, paymentFlow: 'authorization' })).toBe(0)
  expect(indexOf({ ...more, paymentFlow: 'upfront' })).toBe(1)
})

test.each([
  [
    'no authorization',
    { permit2Authorization: {}, signature: '0x' },
    'unsupported_payload_type',
  ],
  ['nothing', {}, 'invalid_payload'],
  [
    'a half authorization',
    { authorization: { from: payer.address } },
    'invalid_payload',
  ],
])('a payload with %s is refused', (_, payload, code) => {
  expect(toSignedPayment({ payload }, terms.domain)).toEqual({
    ok: false,
    code,
  })
})

test('a payload with a number that is none, or without signature, is refused', async () => {
  const { payload } = await stockPayload()
  const refuse = (changed: Record<string, unknown>) =>
    toSignedPayment({ payload: { ...payload, ...changed } }, terms.domain)
  const authorization = Object(payload.authorization)
  for (const changed of [
    { signature: undefined },
    { signature: '0x12zz' },
    { authorization: { ...authorization, value: '1e4' } },
    { authorization: { ...authorization, value: 10_000 } },
    { authorization: { ...authorization, nonce: '0x12' } },
  ])
    expect(refuse(changed)).toEqual({ ok: false, code: 'invalid_payload' })
})

test('networks are named as CAIP-2 names EVM chains', () => {
  expect(chainIdOf('eip155:8453')).toBe(8453)
  expect(
    ['base', 'eip155:', 'eip155:0', 'solana:x', 'eip155:1e3'].map(chainIdOf),
  ).toEqual(Array.from({ length: 5 }, () => undefined))
})

test('a reason of ours has an error code of x402', () => {
  expect(errorCodeOf('expired')).toBe(
    'invalid_exact_evm_payload_authorization_valid_before',
  )
  expect(errorCodeOf('toString')).toBe('invalid_transaction_state')
})

test('a trace shows of a payment header only how long it is', () => {
  const headers = new Headers({
    'PAYMENT-SIGNATURE': 'secret',
    'X-PAYMENT': 'secret!',
    accept: 'text/html',
  })
  expect(redactHeaders(headers)).toEqual({
    'payment-signature': '(6 characters)',
    'x-payment': '(7 characters)',
    accept: 'text/html',
  })
})
