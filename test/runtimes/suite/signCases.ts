import {
  explainSignature,
  type Payment,
  type SignedPayment,
  signPayment,
} from 'countersign'
import { samplePayment } from 'countersign/testing'
import { createClient, custom, type TypedDataDefinition } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { expectEqual } from './expectEqual.js'
import { failureOf } from './failureOf.js'
import type { StagedCase } from './types.js'

/** Of a key that everybody knows; ethers signs the same. */
const signature =
  '0x67053dd9cf69efcbd1c82bf5525f5da9551c921bc4472b484a3674951c6e7a765915f2fbd1ab6e7e8d5603683d2b5f5e3a6bf180152e1e0dfc1389155854a9c71c'

/** A wallet signs what the page expects, without a chain. */
export const signCases: readonly StagedCase[] = [
  {
    name: 'a local key signs',
    run: async () => {
      const account = sampleAccount()
      const wallet = createClient({
        account,
        chain: base,
        transport: custom({ request: async () => undefined }),
      })
      const signed = await sign(wallet, account)
      expectEqual(signed.signature, signature)
      expectEqual(await explainSignature({ payment: signed }), {
        found: true,
        differences: [],
      })
    },
  },
  {
    name: 'an EIP-1193 wallet signs',
    run: async () => {
      const account = sampleAccount()
      const signed = await sign(walletOf(account), account)
      expectEqual(signed.signature, signature)
    },
  },
  {
    name: 'a wallet that declines, or another payment, is a typed error',
    run: async () => {
      const account = sampleAccount()
      const declining = {
        request: async ({ method }: { method: string }) => {
          if (method === 'eth_chainId') return '0x2105'
          throw Object.assign(new Error('no'), { code: 4001 })
        },
      }
      expectEqual(await failureOf(() => sign(declining, account)), {
        name: 'SigningDeclinedError',
        details: {},
      })
      const dearer = { from: addressOf(account), value: 99_000_000n }
      const failure = await failureOf(() =>
        sign(walletOf(account), account, samplePayment(dearer)),
      )
      expectEqual(Object(failure).name, 'UnexpectedPaymentError')
    },
  },
]

const sampleAccount = (): PrivateKeyAccount =>
  privateKeyToAccount(`0x${'11'.repeat(32)}`)

const addressOf = ({ address }: PrivateKeyAccount): `0x${string}` =>
  address.toLowerCase() as `0x${string}`

/** What a wallet in a browser is to a page. */
function walletOf(account: PrivateKeyAccount): Wallet {
  return {
    request: async ({ method, params }) => {
      if (method === 'eth_chainId') return '0x2105'
      if (method !== 'eth_signTypedData_v4') throw new Error(method)
      const [address, json] = params ?? []
      expectEqual(address, addressOf(account))
      return account.signTypedData(
        JSON.parse(json ?? '') as TypedDataDefinition,
      )
    },
  }
}

type Wallet = {
  request(args: { method: string; params?: string[] }): Promise<unknown>
}

function sign(
  wallet: Parameters<typeof signPayment>[0],
  account: PrivateKeyAccount,
  payment: Payment = samplePayment({ from: addressOf(account) }),
): Promise<SignedPayment> {
  const { domain, message } = samplePayment()
  return signPayment(wallet, {
    payment,
    expect: {
      chainId: domain.chainId,
      token: domain.verifyingContract,
      to: message.to,
      amount: '12.50',
    },
  })
}
