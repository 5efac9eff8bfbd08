import { createWalletClient, custom, type Hex, recoverAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { InvalidFieldError } from '../base/errors.js'
import { hashPayment } from '../base/hashPayment.js'
import type { Cancellation } from '../base/types.js'
import { buildCancellation } from '../build/buildCancellation.js'
import { paymentTypedData } from '../build/paymentTypedData.js'
import { samplePayment } from '../testing/samplePayment.js'
import {
  SigningDeclinedError,
  WalletError,
  WrongWalletError,
} from './errors.js'
import { signCancellation } from './signCancellation.js'

const account = privateKeyToAccount(`0x${'7'.repeat(64)}`)
const payer = account.address.toLowerCase() as Hex
const payment = samplePayment({ from: payer })
const cancellation = buildCancellation({ payment })

/** A provider on Base that answers a request to sign with `answer`. */
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
  const signed = await signCancellation(wallet, { cancellation })
  expect(signed).toEqual({ ...cancellation, signature: expect.any(String) })
  const signer = await recoverAddress({
    hash: hashPayment(cancellation),
    signature: signed.signature,
  })
  expect(signer).toBe(account.address)
})

test('a provider gets the complete typed data', async () => {
  const wallet = provider(() => signature)
  const signed = await signCancellation(wallet, { cancellation })
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
    signCancellation(wallet, { cancellation }),
  ).rejects.toBeInstanceOf(SigningDeclinedError)
})

test('an answer that is no signature is a wallet error', async () => {
  const wallet = provider(() => '0x')
  await expect(
    signCancellation(wallet, { cancellation }),
  ).rejects.toBeInstanceOf(WalletError)
})

test('another chain or another account signs nothing', async () => {
  const elsewhere = buildCancellation({
    payment: samplePayment({ from: payer, domain: { chainId: 1 } }),
  })
  const other = buildCancellation({ payment: samplePayment() })
  const wallet = { ...provider(() => signature), account }
  await expect(
    signCancellation(wallet, { cancellation: other }),
  ).rejects.toBeInstanceOf(WrongWalletError)
  expect(wallet.requests).toEqual([])
  const bare = provider(() => signature)
  await expect(
    signCancellation(bare, { cancellation: elsewhere }),
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
    signCancellation(wallet, { cancellation: given as Cancellation }),
  ).rejects.toBeInstanceOf(InvalidFieldError)
  expect(wallet.requests).toEqual([])
})
