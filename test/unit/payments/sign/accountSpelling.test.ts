import { type Address, createWalletClient, custom, getAddress } from 'viem'
import { afterEach, expect, test, vi } from 'vitest'
import { signPayment } from '../../../../src/payments/sign/signPayment.js'
import {
  account,
  asked,
  fakeWallet,
  parameters,
  payer,
  signatureOf,
} from '../../support/fakeWallet.js'

afterEach(() => {
  vi.useRealTimers()
})

const checksummed = getAddress(payer)
const shouted: Address = `0x${payer.slice(2).toUpperCase()}`
const stranger: Address = `0x${'5a'.repeat(20)}`

/** A wallet that signs for accounts in the spelling of its list only. */
function exactWallet(
  accounts: () => unknown,
  known: Address = checksummed,
): ReturnType<typeof fakeWallet> {
  const wallet = fakeWallet()
  return {
    ...wallet,
    request: async (args) => {
      if (args.method === 'eth_accounts') return accounts()
      if (
        args.method === 'eth_signTypedData_v4' &&
        Object(args.params)[0] !== known
      )
        throw { code: 4100 }
      return wallet.request(args)
    },
  }
}

test.each([
  ['with a checksum', checksummed],
  ['in lower case', payer],
  ['in upper case', shouted],
])(
  'a provider that names the account %s is asked for it in this spelling',
  async (_, named) => {
    for (const accounts of [[named], [stranger, named]]) {
      const wallet = exactWallet(() => accounts, named)
      const { signature } = await signPayment(wallet, parameters)
      expect(signature).toBe(await signatureOf())
    }
  },
)

const unsupported = () => {
  throw { code: 4200 }
}

test.each<[string, () => unknown]>([
  ['nobody', () => []],
  ['somebody else', () => [stranger]],
  ['nothing', () => undefined],
  ['text', () => payer],
  ['a list of no text', () => [null, 7, {}]],
  ['an error', unsupported],
])(
  'a provider that answers %s is asked for the account in lower case',
  async (_, accounts) => {
    const wallet = exactWallet(accounts, payer)
    const { signature } = await signPayment(wallet, parameters)
    expect(signature).toBe(await signatureOf())
  },
)

test('a provider that never tells its accounts fails with its first error', async () => {
  vi.useFakeTimers()
  const wallet = exactWallet(() => new Promise(() => undefined))
  const failed = vi.fn()
  signPayment(wallet, parameters).catch(failed)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(failed.mock.lastCall?.[0]).toMatchObject({
    name: 'WalletError',
    details: { code: 4100 },
  })
})

test('a provider may answer without a promise', async () => {
  const signature = await signatureOf()
  const answers = { eth_chainId: '0x2105', eth_signTypedData_v4: signature }
  const request = ({ method }: { method: keyof typeof answers }): never =>
    answers[method] as never
  const signed = await signPayment({ request }, parameters)
  expect(signed.signature).toBe(signature)
})

test('a viem client without an account asks its provider for the spelling too', async () => {
  const transport = custom(exactWallet(() => [checksummed]))
  const client = createWalletClient({ transport })
  const { signature } = await signPayment(client, parameters)
  expect(signature).toBe(await signatureOf())
})

test('the account of a viem client is passed as its page named it', async () => {
  for (const named of [checksummed, payer]) {
    const provider = fakeWallet()
    const transport = custom(provider)
    const client = createWalletClient({ account: named, transport })
    await signPayment(client, parameters)
    expect(asked(provider)[0]?.params).toEqual([named, expect.any(String)])
    expect(provider.requests.map(({ method }) => method)).toEqual([
      'eth_chainId',
      'eth_signTypedData_v4',
    ])
  }
})

test('a local account asks no provider', async () => {
  const provider = fakeWallet()
  await signPayment({ ...provider, account }, parameters)
  expect(provider.requests).toEqual([])
})
