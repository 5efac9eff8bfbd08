import type { Client } from 'viem'
import { CountersignError } from '../../core/CountersignError.js'
import type { SignedPayment } from '../../core/types.js'
import type { RehearsalOptions } from './rehearse.js'
import { rehearsePayments } from './rehearsePayments.js'
import type { Rehearsal } from './types.js'

export type RehearsedKind =
  | { rehearsal: Rehearsal; payerBalance: bigint; error?: undefined }
  | { error: CountersignError; rehearsal?: undefined }

/**
 * Simulates the capture of each payment. Payments with the same token, type and
 * recipient share requests.
 */
export async function rehearseKinds(
  client: Client,
  payments: readonly SignedPayment[],
  options: RehearsalOptions,
): Promise<ReadonlyMap<SignedPayment, RehearsedKind>> {
  const kinds = new Map<string, SignedPayment[]>()
  for (const payment of payments) {
    const kind = kindOf(payment)
    const own = kinds.get(kind) ?? []
    kinds.set(kind, own)
    own.push(payment)
  }
  const results = [...kinds.values()].map((own) =>
    rehearseKind(client, own, options),
  )
  return new Map((await Promise.all(results)).flat())
}

/**
 * Returns the key of payments that can share a request. Anyone may send a
 * `TransferWithAuthorization`, so its recipients may differ. Only the recipient
 * may send a `ReceiveWithAuthorization`.
 */
function kindOf({ domain, message, primaryType }: SignedPayment): string {
  const token = `${primaryType} ${domain.verifyingContract}`
  return primaryType === 'ReceiveWithAuthorization'
    ? `${token} ${message.to}`
    : token
}

/**
 * Simulates the payments of a group together. If the node fails on the group,
 * simulates each payment alone.
 */
async function rehearseKind(
  client: Client,
  payments: readonly SignedPayment[],
  options: RehearsalOptions,
): Promise<readonly (readonly [SignedPayment, RehearsedKind])[]> {
  try {
    const { rehearsals, payerBalances } = await rehearsePayments(client, {
      payments,
      ...options,
    })
    return payments.flatMap((payment, at) => {
      const rehearsal = rehearsals[at]
      const payerBalance = payerBalances[at]
      return rehearsal && payerBalance !== undefined
        ? [[payment, { rehearsal, payerBalance }]]
        : []
    })
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error
    const [first, ...others] = payments
    if (first && !others.length) return [[first, { error }]]
    const alone = payments.map((one) => rehearseKind(client, [one], options))
    return (await Promise.all(alone)).flat()
  }
}
