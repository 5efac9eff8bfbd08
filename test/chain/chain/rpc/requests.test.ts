import {
  buildPayment,
  capturePayment,
  getToken,
  type PaymentExpectation,
  preparePayment,
  type SignedPayment,
  signPayment,
  verifyPayment,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { type Account, type Client, createClient, custom, http } from 'viem'
import { getBlock, getTransactionCount } from 'viem/actions'
import { base } from 'viem/chains'
import { afterAll, expect, test } from 'vitest'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { merchant, payer, public: reader } = chain.clients
const seller = merchant.account
const order = { from: payer.account.address, to: seller.address, amount: '1' }
const expectation = { token: chain.token, to: order.to, amount: order.amount }
const fees = {
  maxFeePerGas: 10_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
}

/** A client without methods of its own, so that nothing goes around it. */
function countingClient(
  account?: Account,
  change = (args: { params?: unknown }): object => args,
): { client: Client; methods: string[] } {
  const methods: string[] = []
  const node = createClient({ transport: http(chain.urls.http) })
  const request: Client['request'] = async (args, options) => {
    methods.push(args.method)
    return node.request(change(args) as never, options) as never
  }
  const transport = custom({ request }, { retryCount: 0 })
  const client = createClient({ account, chain: chain.chain, transport })
  return { client, methods }
}

async function signedPayment(): Promise<SignedPayment> {
  const payment = await preparePayment(reader, { ...order, token: chain.token })
  const { chainId } = payment.domain
  return signPayment(payer, { payment, expect: { ...expectation, chainId } })
}

test('preparing a payment takes one request, the token known or not', async () => {
  const { client, methods } = countingClient()
  await preparePayment(client, { ...order, token: chain.token })
  expect(methods).toEqual(['eth_call'])
  await preparePayment(client, { ...order, token: chain.token })
  expect(methods).toEqual(['eth_call', 'eth_call'])
})

test.each(['token', 'from', 'to'])(
  'a mistyped %s is caught before a payment is prepared',
  async (field) => {
    const { client, methods } = countingClient()
    const mistyped = { [field]: '0x036CbD53842c5426634e7929541eC2318f3dCF7c' }
    await expect(
      preparePayment(client, { ...order, token: chain.token, ...mistyped }),
    ).rejects.toMatchObject({ name: 'InvalidFieldError', details: { field } })
    expect(methods).toEqual([])
  },
)

test('no payment is prepared for another chain than the client is for', async () => {
  const transport = http(chain.urls.http)
  const client = createClient({ chain: base, transport })
  await expect(
    preparePayment(client, { ...order, token: chain.token }),
  ).rejects.toMatchObject({
    name: 'InvalidFieldError',
    details: { field: 'chainId', value: '31337 (number)' },
  })
})

test('reading a token takes one request, and none when it is known', async () => {
  const { client, methods } = countingClient()
  const token = await getToken(client, { token: chain.token })
  expect(methods).toEqual(['eth_call'])
  expect(await getToken(client, { token: chain.token })).toEqual(token)
  expect(methods).toEqual(['eth_call'])
})

test('without state overrides a token takes one more request, once', async () => {
  const plain = (args: { params?: unknown }) => {
    return { ...args, params: (args.params as unknown[]).slice(0, 2) }
  }
  const { client, methods } = countingClient(undefined, plain)
  const token = await getToken(client, { token: chain.token })
  expect(methods).toEqual(['eth_call', 'eth_call'])
  expect(token).toEqual(await getToken(reader, { token: chain.token }))
  await preparePayment(client, { ...order, token: chain.token })
  expect(methods).toHaveLength(3)
})

test('verifying a payment takes one request', async () => {
  const payment = await signedPayment()
  const { client, methods } = countingClient()
  const verdict = await verifyPayment(client, { payment, expect: expectation })
  expect(verdict.ok).toBe(true)
  expect(methods).toEqual(['eth_call'])
})

test('refusing a payment for what the token says takes one request', async () => {
  const { signature, ...payment } = await signedPayment()
  const other = { ...payment.message, value: 7n }
  const { client, methods } = countingClient()
  const verdict = await verifyPayment(client, {
    payment: { ...payment, message: other, signature },
    expect: expectation,
  })
  expect(verdict).toMatchObject({ ok: false, reason: 'wrongSigner' })
  expect(methods).toEqual(['eth_call'])
})

const stranger = '0x1111111111111111111111111111111111111111'

test.each<[string, Partial<PaymentExpectation>]>([
  ['wrongChain', { chainId: 8453 }],
  ['wrongToken', { token: stranger }],
  ['wrongPrimaryType', { primaryType: 'TransferWithAuthorization' }],
  ['wrongNonce', { nonce: `0x${'1'.repeat(64)}` }],
  ['wrongPayer', { from: stranger }],
  ['wrongRecipient', { to: stranger }],
  ['windowTooLong', { maxWindow: 10n }],
])('%s is told without a request', async (reason, changes) => {
  const payment = await signedPayment()
  const { client, methods } = countingClient()
  const verdict = await verifyPayment(client, {
    payment,
    expect: { ...expectation, ...changes },
  })
  expect(verdict).toMatchObject({ ok: false, reason })
  expect(methods).toEqual([])
})

test.each<[string, (payment: SignedPayment) => SignedPayment]>([
  ['malformedSignature', (it) => ({ ...it, signature: '0x12' })],
  [
    'selfPayment',
    (it) => ({ ...it, message: { ...it.message, from: it.message.to } }),
  ],
])('%s is told without a request, too', async (reason, change) => {
  const payment = change(await signedPayment())
  const { client, methods } = countingClient()
  const verdict = await verifyPayment(client, { payment, expect: expectation })
  expect(verdict).toMatchObject({ ok: false, reason })
  expect(methods).toEqual([])
})

test('a capture with all given and no rehearsal takes one request', async () => {
  const payment = await signedPayment()
  const nonce = await getTransactionCount(reader, {
    address: seller.address,
  })
  const { client, methods } = countingClient(seller)
  const options = { ...fees, nonce, gas: 200_000n, simulate: false }
  await capturePayment(client, { payment, ...options })
  expect(methods).toEqual(['eth_sendRawTransaction'])
})

test('a capture with fees and nonce given takes two requests', async () => {
  const payment = await signedPayment()
  const nonce = await getTransactionCount(reader, {
    address: seller.address,
  })
  const { client, methods } = countingClient(seller)
  await capturePayment(client, { payment, ...fees, nonce })
  expect(methods).toEqual(['eth_call', 'eth_sendRawTransaction'])
})

test('a capture with nothing given also asks for nonce, block and tip', async () => {
  const payment = await signedPayment()
  const { client, methods } = countingClient(seller)
  await capturePayment(client, { payment })
  expect(methods.sort()).toEqual([
    'eth_call',
    'eth_getBlockByNumber',
    'eth_getTransactionCount',
    'eth_maxPriorityFeePerGas',
    'eth_sendRawTransaction',
  ])
})

test('building and signing ask no node', async () => {
  const { domain } = await getToken(reader, { token: chain.token })
  const { timestamp: now } = await getBlock(reader)
  const payment = buildPayment({ ...order, domain, now })
  const { client, methods } = countingClient(payer.account)
  const { chainId } = domain
  await signPayment(client, { payment, expect: { ...expectation, chainId } })
  expect(methods).toEqual([])
})
