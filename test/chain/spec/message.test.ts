import {
  buildPayment,
  captureCall,
  capturePayment,
  hashPayment,
  paymentTypedData,
  preparePayment,
  type SignedPayment,
  signPayment,
  verifyPayment,
} from 'countersign'
import { deployDevToken } from 'countersign/devchain'
import {
  createClient,
  custom,
  isAddressEqual,
  keccak256,
  size,
  slice,
  toHex,
} from 'viem'
import { getBlockNumber, getTransactionCount } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  balanceOf,
  cancel,
  capture,
  chain,
  client,
  draft,
  draftAndSign,
  expected,
  freshPayer,
  merchant,
  mine,
  nonce,
  read,
  relayer,
  sample,
  sign,
  stateOf,
  to,
  token,
  usdc,
} from '../support/specChain.js'

test('service, 1: the message binds payer, recipient, exact amount, window and nonce', () => {
  const payment = buildPayment({ ...sample, now: 1_000n, nonce })

  const digests = [
    payment.message,
    { ...payment.message, from: to },
    { ...payment.message, to: relayer.account.address },
    { ...payment.message, value: 12_500_001n },
    { ...payment.message, validAfter: 941n },
    { ...payment.message, validBefore: 1_901n },
    { ...payment.message, nonce: keccak256(nonce) },
  ].map((message) => hashPayment({ ...payment, message }))
  expect(new Set(digests).size).toBe(7)
})

test('service, 2: signing sends no transaction and moves no tokens', async () => {
  const { payer, payment } = await draft()
  const { address } = payer.account
  const block = await getBlockNumber(client, { cacheTime: 0 })

  await sign(payer, payment)
  expect(await getBlockNumber(client, { cacheTime: 0 })).toBe(block)
  expect(await getTransactionCount(client, { address })).toBe(0)
  expect(await balanceOf(address)).toBe(100_000_000n)
})

test('service, 3: only the named recipient can submit the signed transfer', async () => {
  const { payment } = await draftAndSign()

  await expect(capturePayment(relayer, { payment })).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    reason: 'wrongSubmitter',
  })
  expect(await mine(relayer, captureCall({ payment }))).toBe(
    'FiatTokenV2: caller must be the payee',
  )
  expect(await stateOf(payment)).toBe(false)
})

test('service, 4: a signature reserves nothing: two that exceed the balance are both valid until one is captured', async () => {
  const { payer, payment: first } = await draftAndSign({}, 20_000_000n)
  const from = payer.account.address
  const second = await sign(
    payer,
    await preparePayment(client, { ...expected, from }),
  )
  const verify = (payment: SignedPayment) =>
    verifyPayment(client, { payment, expect: expected })

  expect(await verify(first)).toMatchObject({ ok: true })
  expect(await verify(second)).toMatchObject({ ok: true })
  await capture(first)
  expect(await verify(second)).toMatchObject({
    ok: false,
    reason: 'insufficientFunds',
  })
})

test('message, from: the payer account pays', async () => {
  const { payer, payment } = await draftAndSign()

  await capture(payment)
  expect(isAddressEqual(payment.message.from, payer.account.address)).toBe(true)
  expect(await balanceOf(payment.message.from)).toBe(87_500_000n)
})

test('message, to: the merchant address is paid', async () => {
  const { payment } = await draftAndSign()
  const before = await balanceOf(to)

  await capture(payment)
  expect(payment.message.to).toBe(to)
  expect((await balanceOf(to)) - before).toBe(12_500_000n)
})

test('message, value: the decimal amount is scaled by 6 decimals, exactly', () => {
  const { message } = buildPayment({ ...sample, amount: '1234567.890123' })

  expect(message.value).toBe(1_234_567_890_123n)
})

test('message, validAfter: the current time minus 60 seconds', () => {
  const { message } = buildPayment({ ...sample, now: 1_750_000_000n })

  expect(message.validAfter).toBe(1_749_999_940n)
})

test('message, validBefore: the current time plus 900 seconds', () => {
  const { message } = buildPayment({ ...sample, now: 1_750_000_000n })

  expect(message.validBefore).toBe(1_750_000_900n)
})

test('message, nonce: 32 random bytes, new for each attempt', () => {
  const nonces = Array.from(
    { length: 1_000 },
    () => buildPayment(sample).message.nonce,
  )

  expect(new Set(nonces).size).toBe(1_000)
  expect(nonces.every((nonce) => size(nonce) === 32)).toBe(true)
  // Each of the 32 bytes takes many values over 1,000 draws.
  for (let at = 0; at < 32; at++)
    expect(
      new Set(nonces.map((it) => slice(it, at, at + 1))).size,
    ).toBeGreaterThan(200)
})

test('message, nonce: consumed by capture, and never usable again', async () => {
  const { payment } = await draftAndSign()

  await capture(payment)
  expect(await stateOf(payment)).toBe(true)
  expect(await mine(merchant, captureCall({ payment }))).toBe(
    'FiatTokenV2: authorization is used or canceled',
  )
})

test('message, nonce: consumed by cancellation', async () => {
  const { payer, payment } = await draftAndSign()

  await cancel(payer, payment)
  expect(await stateOf(payment)).toBe(true)
})

test('signing, domain name: what the token function name returns', async () => {
  const other = await deployDevToken(chain, { name: 'Bridged USDC (Team)' })
  const { payment } = await draft({ token: other })

  expect(await read('name', other)).toBe('Bridged USDC (Team)')
  expect(payment.domain.name).toBe('Bridged USDC (Team)')
})

test('signing, domain version: what the token function version returns', async () => {
  const { payment } = await draft()

  expect(payment.domain.version).toBe(await read('version'))
})

test('signing, domain chainId: the target chain', async () => {
  const { payment } = await draft()

  expect(payment.domain.chainId).toBe(31337)
})

test('signing, domain verifyingContract: the token contract', async () => {
  const { payment } = await draft()

  expect(payment.domain.verifyingContract).toBe(token)
})

test('signing, wallet method: eth_signTypedData_v4 with the complete payload', async () => {
  const { account } = await freshPayer()
  const asked: { method: string; params: unknown }[] = []
  const provider = custom({
    async request({ method, params }) {
      if (method === 'eth_chainId') return toHex(usdc.chainId)
      asked.push({ method, params })
      return account.signTypedData(JSON.parse(params[1]))
    },
  })
  const payment = buildPayment({ ...sample, from: account.address, nonce })

  await signPayment(createClient({ transport: provider }), {
    payment,
    expect: { ...expected, token: usdc.verifyingContract, chainId: 8453 },
  })
  const payload = JSON.stringify(paymentTypedData(payment))
  expect(asked).toEqual([
    {
      method: 'eth_signTypedData_v4',
      params: [account.address.toLowerCase(), payload],
    },
  ])
})

test('signing, member list (not shown): the six members in the order of EIP-3009', () => {
  const { types } = paymentTypedData(buildPayment(sample))

  expect(types).toEqual({
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    ReceiveWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  })
})
