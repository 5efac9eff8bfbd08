import { createWalletClient, custom, type Hex, recoverAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { InvalidFieldError } from '../../core/errors.js'
import { hashPayment } from '../../core/hashPayment.js'
import type { Cancellation } from '../../core/types.js'
import { samplePayment } from '../../testing/samplePayment.js'
import { buildCancellation } from '../message/buildCancellation.js'
import { paymentTypedData } from '../message/paymentTypedData.js'
import {
  SigningDeclinedError,
  WalletError,
  WrongWalletError,
} from './errors.js'
import {
  type SignCancellationExpectation,
  signCancellation,
} from './signCancellation.js'

const account = privateKeyToAccount(`0x${'7'.repeat(64)}`)
const payer = account.address.toLowerCase() as Hex
const payment = samplePayment({ from: payer })
const cancellation = buildCancellation({ payment })
const expectation: SignCancellationExpectation = {
  chainId: 8453,
  token: payment.domain.verifyingContract,
}

/**
 * Creates a wallet provider on Base that answers a request to sign with
 * `answer`.
 */
function provider(answer: () => unknown): {
  requests: unknown[]
  request(args: { method: string; params?: unknown }): Promise<unknown>
} {
  const requests: unknown[] = []
  return {
    requests,
    request: async ({ method, params }) => {
      requests.push([method, params])
      return method === 'eth_chainId' ? '0x2105' : answer()
    },
  }
}

const signature: Hex = `0x${'11'.repeat(64)}1b`

test('a local account signs the digest of the cancellation', async () => {
  const wallet = createWalletClient({
    account,
    transport: custom(provider(() => null)),
  })
  const signed = await signCancellation(wallet, {
    cancellation,
    expect: expectation,
  })
  expect(signed).toEqual({ ...cancellation, signature: expect.any(String) })
  const signer = await recoverAddress({
    hash: hashPayment(cancellation),
    signature: signed.signature,
  })
  expect(signer).toBe(account.address)
})

test('a provider gets the complete typed data', async () => {
  const wallet = provider(() => signature)
  const signed = await signCancellation(wallet, {
    cancellation,
    expect: expectation,
  })
  expect(signed).toEqual({ ...cancellation, signature })
  expect(wallet.requests).toEqual([
    ['eth_chainId', undefined],
    ['eth_signTypedData_v4', [payer, expect.any(String)]],
  ])
  const [, [, payload]] = wallet.requests[1] as [string, [string, string]]
  expect(JSON.parse(payload)).toEqual(paymentTypedData(cancellation))
})

test('a user who declines is named as such', async () => {
  const wallet = provider(() => {
    throw Object.assign(new Error('no'), { code: 4001 })
  })
  await expect(
    signCancellation(wallet, { cancellation, expect: expectation }),
  ).rejects.toBeInstanceOf(SigningDeclinedError)
})

test('an answer that is no signature is a wallet error', async () => {
  const wallet = provider(() => '0x')
  await expect(
    signCancellation(wallet, { cancellation, expect: expectation }),
  ).rejects.toBeInstanceOf(WalletError)
})

test('another chain or another account signs nothing', async () => {
  const elsewhere = buildCancellation({
    payment: samplePayment({ from: payer, domain: { chainId: 1 } }),
  })
  const other = buildCancellation({ payment: samplePayment() })
  const wallet = { ...provider(() => signature), account }
  await expect(
    signCancellation(wallet, { cancellation: other, expect: expectation }),
  ).rejects.toBeInstanceOf(WrongWalletError)
  expect(wallet.requests).toEqual([])
  const bare = provider(() => signature)
  await expect(
    signCancellation(bare, {
      cancellation: elsewhere,
      expect: { ...expectation, chainId: 1 },
    }),
  ).rejects.toBeInstanceOf(WrongWalletError)
  expect(bare.requests).toEqual([['eth_chainId', undefined]])
})

test.each([
  null,
  {},
  payment,
  { ...cancellation, extra: 1 },
  { ...cancellation, message: { ...cancellation.message, nonce: '0x1' } },
])('a malformed cancellation is refused: %o', async (given) => {
  const wallet = provider(() => signature)
  await expect(
    signCancellation(wallet, {
      cancellation: given as Cancellation,
      expect: expectation,
    }),
  ).rejects.toBeInstanceOf(InvalidFieldError)
  expect(wallet.requests).toEqual([])
})

test('what the page knows of the payment may be expected too', async () => {
  const { nonce } = payment.message
  const signed = await signCancellation(
    provider(() => signature),
    {
      cancellation,
      expect: {
        ...expectation,
        name: 'USD Coin',
        version: '2',
        from: account.address,
        nonce: `0x${nonce.slice(2).toUpperCase()}`,
      },
    },
  )
  expect(signed).toEqual({ ...cancellation, signature })
})

test.each<[string, Partial<SignCancellationExpectation>]>([
  ['chainId', { chainId: 1 }],
  ['chainId', { chainId: undefined as unknown as number }],
  ['token', { token: `0x${'4'.repeat(40)}` }],
  ['name', { name: 'USDC' }],
  ['version', { version: '1' }],
  ['from', { from: `0x${'4'.repeat(40)}` }],
  ['nonce', { nonce: `0x${'4'.repeat(64)}` }],
])('a cancellation of an unexpected %s is not signed', async (field, said) => {
  const wallet = provider(() => signature)
  await expect(
    signCancellation(wallet, {
      cancellation,
      expect: { ...expectation, ...said },
    }),
  ).rejects.toMatchObject({
    name: 'UnexpectedPaymentError',
    details: { field },
  })
  expect(wallet.requests).toEqual([])
})

test('a cancellation whose domain is a message to the buyer is not signed', async () => {
  const wallet = provider(() => signature)
  const domain = { ...cancellation.domain, name: 'Sign in to shop.example' }
  await expect(
    signCancellation(wallet, {
      cancellation: { ...cancellation, domain },
      expect: expectation,
    }),
  ).rejects.toMatchObject({ details: { field: 'name' } })
  expect(wallet.requests).toEqual([])
})

test.each([
  [undefined, 'expect.token'],
  [{ ...expectation, payer }, 'expect'],
  [{ ...expectation, token: '0x12' }, 'expect.token'],
  [{ ...expectation, nonce: '0x12' }, 'expect.nonce'],
])('a malformed expectation is refused: %o', async (given, field) => {
  const wallet = provider(() => signature)
  await expect(
    signCancellation(wallet, {
      cancellation,
      expect: given as SignCancellationExpectation,
    }),
  ).rejects.toMatchObject({ name: 'InvalidFieldError', details: { field } })
  expect(wallet.requests).toEqual([])
})
