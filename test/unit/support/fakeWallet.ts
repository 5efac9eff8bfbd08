import { type Hex, hashTypedData } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { hashPayment } from '../../../src/core/hashPayment.js'
import type {
  SignPaymentExpectation,
  SignPaymentParameters,
} from '../../../src/payments/sign/signPayment.js'
import { samplePayment } from '../../../src/testing/samplePayment.js'

export const privateKey: Hex = `0x${'7'.repeat(64)}`
export const account = privateKeyToAccount(privateKey)
export const payer = account.address.toLowerCase() as Hex
export const payment = samplePayment({ from: payer })
export const expectation: SignPaymentExpectation = {
  chainId: 8453,
  token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bDA02913',
  to: payment.message.to,
  amount: '12.50',
}
export const parameters: SignPaymentParameters = {
  payment,
  expect: expectation,
}

type Request = { method: string; params?: unknown }

/** A wallet that notes what it is asked and signs with the payer's key. */
export function fakeWallet(
  answer: (payload: unknown) => unknown = (payload) =>
    sign({ hash: hashTypedData(payload as never), privateKey, to: 'hex' }),
  chainId: unknown = '0x2105',
): { requests: Request[]; request(args: Request): Promise<unknown> } {
  const requests: Request[] = []
  return {
    requests,
    request: async (args) => {
      requests.push({ method: args.method, params: args.params })
      if (args.method === 'eth_chainId') return chainId
      if (args.method !== 'eth_signTypedData_v4')
        throw new Error(`unexpected ${args.method}`)
      const [, payload] = args.params as [string, string]
      return answer(JSON.parse(payload))
    },
  }
}

export const asked = ({ requests }: { requests: Request[] }): Request[] =>
  requests.filter(({ method }) => method === 'eth_signTypedData_v4')

export async function signatureOf(): Promise<Hex> {
  return sign({ hash: hashPayment(payment), privateKey, to: 'hex' })
}

export const refuse = (): never => {
  throw new Error('nothing may be asked')
}
