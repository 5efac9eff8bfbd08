import type { Payment, SignedPayment } from 'countersign'
import {
  deployDevContract,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import { type Address, keccak256, stringToHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getBlock } from 'viem/actions'
import { afterAll } from 'vitest'
import {
  type RehearsePaymentsParameters,
  rehearsePayments,
} from '../../../src/payments/verify/rehearsePayments.js'
import { deployFamilies, type Family } from './families.js'
import { account, sign } from './signing.js'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

export const { public: client, merchant: wallet, relayer } = chain.clients
export const merchant = wallet.account.address.toLowerCase() as Address
export const { usdc, circle22, circle21, paxos, openZeppelin } =
  await deployFamilies(chain)
export const unit = 1_000_000n
export const stranger = account('stranger')

let count = 0

export async function freshPayer(
  family: Family = circle22,
  value = 10n * unit,
): Promise<PrivateKeyAccount> {
  const payer = account(`batch payer ${count++}`)
  if (value) await family.mint(payer.address, value)
  return payer
}

export type Changes = {
  family?: Family
  payer?: PrivateKeyAccount | undefined
  signer?: PrivateKeyAccount
  primaryType?: Payment['primaryType']
  message?: Partial<Payment['message']>
  domain?: Partial<Payment['domain']>
}

/** A payment of one dollar that can be captured, but for the changes. */
export async function pay(changes: Changes = {}): Promise<SignedPayment> {
  const { family = circle22 } = changes
  const payer = changes.payer ?? (await freshPayer(family))
  const { timestamp } = await getBlock(client)
  const payment: Payment = {
    primaryType: changes.primaryType ?? 'ReceiveWithAuthorization',
    domain: { ...family.domain, ...changes.domain },
    message: {
      from: payer.address.toLowerCase() as Address,
      to: merchant,
      value: unit,
      validAfter: timestamp - 60n,
      validBefore: timestamp + 900n,
      nonce: keccak256(stringToHex(`batch ${count++}`)),
      ...changes.message,
    },
  }
  return { ...payment, signature: await sign(changes.signer ?? payer, payment) }
}

/** A payment of a contract wallet that its owner signs. */
export async function payFromWallet(
  name: 'strictWallet' | 'permissiveWallet' | 'lyingWallet',
  changes: Changes = {},
): Promise<SignedPayment> {
  const { family = circle22, signer = account('owner') } = changes
  const args = name === 'permissiveWallet' ? [] : [account('owner').address]
  const contract = devContracts[name]
  const deployed = await deployDevContract(chain, { contract, args })
  const from = deployed.toLowerCase() as Address
  await family.mint(from, 10n * unit)
  return pay({ family, payer: signer, message: { from, ...changes.message } })
}

export async function reasonsOf(
  payments: readonly SignedPayment[],
  options: Partial<RehearsePaymentsParameters> = {},
  by = client as Parameters<typeof rehearsePayments>[0],
): Promise<string[]> {
  const { rehearsals } = await rehearsePayments(by, {
    payments,
    origin: merchant,
    ...options,
  })
  return rehearsals.map((one) => (one.ok ? 'ok' : one.reason))
}
