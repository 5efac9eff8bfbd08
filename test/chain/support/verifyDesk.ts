import {
  capturePayment,
  type Payment,
  type PaymentExpectation,
  type PaymentVerdict,
  type SignedPayment,
  type VerifyPaymentParameters,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import { devContracts, startDevChain } from 'countersign/devchain'
import {
  type Address,
  type Client,
  createClient,
  custom,
  formatUnits,
  http,
  keccak256,
  stringToHex,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getBlock } from 'viem/actions'
import { afterAll } from 'vitest'
import { deployDevContract } from '../../../src/devchain/deployDevContract.js'
import { deployFamilies, type Family } from './families.js'
import { account, sign } from './signing.js'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

export const { public: client, merchant: wallet } = chain.clients
export const merchant = wallet.account.address.toLowerCase() as Address
export const families = await deployFamilies(chain)
export const { circle22, circle21, circle20, paxos, decimals18 } = families
export const unit = 1_000_000n
export const stranger = account('stranger')

export type Request = { method: string; params: readonly unknown[] }
type Answer = (request: Request) => unknown

const direct = createClient({
  transport: http(chain.urls.http, { retryCount: 0 }),
})

export const pass: Answer = ({ method, params }) =>
  direct.request({ method, params } as never)

/** A client of a node that answers as a function says; `chain` left open. */
export function nodeThat(answer: Answer): Client & { asked: Request[] } {
  const asked: Request[] = []
  const request = async ({ method, params = [] }: Request) => {
    asked.push({ method, params })
    return answer({ method, params })
  }
  const transport = custom({ request }, { retryCount: 0 })
  return Object.assign(createClient({ transport }), { asked })
}

/** A node that knows no state overrides and drops what it does not know. */
export const plainNode = () =>
  nodeThat(({ method, params }) =>
    pass({
      method,
      params: method === 'eth_call' ? params.slice(0, 2) : params,
    }),
  )

let payers = 0

export async function freshPayer(
  family: Family = circle22,
  value = 100n * unit,
): Promise<PrivateKeyAccount> {
  const payer = account(`payer ${payers++}`)
  await family.mint(payer.address, value)
  return payer
}

export const now = async () => (await getBlock(client)).timestamp

type Changes = {
  family?: Family
  payer?: PrivateKeyAccount
  signer?: PrivateKeyAccount
  primaryType?: Payment['primaryType']
  message?: Partial<Payment['message']>
  domain?: Partial<Payment['domain']>
}

/** A payment of one dollar that can be captured, but for the changes. */
export async function pay(changes: Changes = {}): Promise<SignedPayment> {
  const { family = circle22 } = changes
  const payer = changes.payer ?? (await freshPayer(family))
  const time = await now()
  const payment: Payment = {
    primaryType: changes.primaryType ?? 'ReceiveWithAuthorization',
    domain: { ...family.domain, ...changes.domain },
    message: {
      from: payer.address.toLowerCase() as Address,
      to: merchant,
      value: unit,
      validAfter: time - 60n,
      validBefore: time + 900n,
      nonce: keccak256(stringToHex(`${payer.address} ${payers++}`)),
      ...changes.message,
    },
  }
  return { ...payment, signature: await sign(changes.signer ?? payer, payment) }
}

/** What the merchant of this payment expects. */
export function expecting(
  { domain, message, primaryType }: Payment,
  changes: Partial<PaymentExpectation> = {},
): PaymentExpectation {
  const token = domain.verifyingContract
  const family = Object.values(families).find((it) => it.token === token)
  const amount = formatUnits(message.value, family?.decimals ?? 6)
  return { token, to: message.to, amount, primaryType, ...changes }
}

export function verify(
  payment: SignedPayment,
  {
    expect: changes,
    by = client,
    ...rest
  }: Partial<Omit<VerifyPaymentParameters, 'expect'>> & {
    expect?: Partial<PaymentExpectation>
    by?: Client
  } = {},
): Promise<PaymentVerdict> {
  const expect = expecting(payment, changes)
  return verifyPayment(by, { payment, expect, ...rest })
}

/** A verdict without the block it was reached at. */
export async function verdictOf(
  ...parameters: Parameters<typeof verify>
): Promise<object> {
  const { at, ...verdict } = await verify(...parameters)
  return verdict
}

export const refusal = (reason: string, words?: string): object => ({
  ok: false,
  reason,
  details: words ? { words } : {},
})

export const capture = async (payment: SignedPayment) =>
  waitForOutcome(client, {
    payment,
    hash: await capturePayment(wallet, { payment }),
  })

export const invalid = 'FiatTokenV2: invalid signature'
export const isExpired = 'FiatTokenV2: authorization is expired'

type Wallet = 'strictWallet' | 'permissiveWallet' | 'lyingWallet'

/** A payment of a contract wallet that its owner signs. */
export async function payFromWallet(
  name: Wallet,
  { family = circle22, signer = account('owner'), message }: Changes = {},
): Promise<SignedPayment> {
  const args = name === 'permissiveWallet' ? [] : [account('owner').address]
  const contract = devContracts[name]
  const from = await deployDevContract(chain, { contract, args })
  await family.mint(from, 10n * unit)
  return pay({
    family,
    payer: signer,
    message: { from: from.toLowerCase() as Address, ...message },
  })
}
