import { createWalletClient, custom, recoverAddress } from 'viem'
import { expect, test } from 'vitest'
import {
  account,
  asked,
  expectation,
  fakeWallet,
  parameters,
  payer,
  payment,
  refuse,
  signatureOf,
} from '../../../test/unit/support/fakeWallet.js'
import { hashPayment } from '../../core/hashPayment.js'
import { samplePayment } from '../../testing/samplePayment.js'
import { paymentTypedData } from '../message/paymentTypedData.js'
import { signPayment } from './signPayment.js'

test('a local account signs the digest of the payment', async () => {
  const signed = await signPayment({ account, request: refuse }, parameters)
  expect(signed).toEqual({ ...payment, signature: await signatureOf() })
  const { signature } = signed
  const hash = hashPayment(payment)
  expect(await recoverAddress({ hash, signature })).toBe(account.address)
})

test('a viem wallet client with a local account asks no node', async () => {
  const transport = custom({ request: async () => refuse() })
  const wallet = createWalletClient({ account, transport })
  const signed = await signPayment(wallet, parameters)
  expect(signed.signature).toBe(await signatureOf())
})

test('a viem wallet client of a browser wallet gives the same', async () => {
  const wallet = createWalletClient({
    account: account.address,
    transport: custom(fakeWallet()),
  })
  const signed = await signPayment(wallet, parameters)
  expect(signed).toEqual({ ...payment, signature: await signatureOf() })
})

test('a viem wallet client without an account signs as the payer', async () => {
  const provider = fakeWallet()
  const wallet = createWalletClient({ transport: custom(provider) })
  await signPayment(wallet, parameters)
  expect(asked(provider)[0]?.params).toEqual([payer, expect.any(String)])
})

test('a bare provider is asked for exactly one chain id and one signature', async () => {
  const wallet = fakeWallet()
  const signed = await signPayment(wallet, parameters)
  const payload = expect.any(String)
  expect(signed).toEqual({ ...payment, signature: await signatureOf() })
  expect(wallet.requests).toEqual([
    { method: 'eth_chainId', params: undefined },
    { method: 'eth_signTypedData_v4', params: [payer, payload] },
  ])
})

test('the wallet gets the complete typed data', async () => {
  const wallet = fakeWallet()
  await signPayment(wallet, parameters)
  const [request] = asked(wallet)
  const [, payload] = (request?.params ?? []) as [string, string]
  expect(JSON.parse(payload)).toEqual(paymentTypedData(payment))
  expect(payload).toContain('"EIP712Domain"')
  expect(payload).toContain('"value":"12500000"')
  expect(payload).toContain('"chainId":8453')
})

test('a Transfer payment is signed as such', async () => {
  const transfer = samplePayment({
    from: payer,
    primaryType: 'TransferWithAuthorization',
  })
  const signed = await signPayment(fakeWallet(), {
    payment: transfer,
    expect: { ...expectation, primaryType: transfer.primaryType },
  })
  const signer = await recoverAddress({
    hash: hashPayment(transfer),
    signature: signed.signature,
  })
  expect(signer).toBe(account.address)
})

test('a signature that came with the payment is not kept', async () => {
  const stale = { ...payment, signature: `0x${'12'.repeat(65)}` as const }
  const { signature } = await signPayment(fakeWallet(), {
    payment: stale,
    expect: expectation,
  })
  expect(signature).toBe(await signatureOf())
})

test('what a signer does to the object it gets changes nothing of what is returned, nor what others sign', async () => {
  const vandal = {
    ...account,
    signTypedData: async (payload: never) => {
      const signature = await account.signTypedData(payload)
      const { domain, message, types } = Object(payload)
      domain.name = 'Other'
      message.value = 1n
      types.EIP712Domain.length = 0
      types.ReceiveWithAuthorization[0].name = 'thief'
      return signature
    },
  }
  const wallet = {
    account: vandal as unknown as typeof account,
    request: refuse,
  }
  const expected = { ...payment, signature: await signatureOf() }
  expect(await signPayment(wallet, parameters)).toEqual(expected)
  expect(await signPayment(wallet, parameters)).toEqual(expected)
})
