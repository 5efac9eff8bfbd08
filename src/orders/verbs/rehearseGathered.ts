import type { Client } from 'viem'
import { NodeError } from '../../chain/rpc/errors.js'
import { gatherCalls } from '../../core/gatherCalls.js'
import {
  type RehearsedPayments,
  type RehearsePaymentsParameters,
  rehearsePayments,
} from '../../payments/verify/rehearsePayments.js'

type OneRehearsal = Omit<RehearsePaymentsParameters, 'payments'> & {
  payments: readonly [RehearsePaymentsParameters['payments'][number]]
}

type Rehearse = (rehearsal: OneRehearsal) => Promise<RehearsedPayments>

const known = /* @__PURE__ */ new WeakMap<Client, Rehearse>()

/** Most payments in one request to the node, and most requests at once. */
const most = 100
const atOnce = 4

/**
 * Simulates the capture of one payment like `rehearsePayments`, in one request
 * with others that wait for the same node. All payers in a request differ: the
 * capture of one payment would lower the balance that another payment of the
 * same payer finds.
 */
export function rehearseGathered(
  client: Client,
  rehearsal: OneRehearsal,
): Promise<RehearsedPayments> {
  const rehearse = known.get(client) ?? createRehearse(client)
  known.set(client, rehearse)
  return rehearse(rehearsal)
}

function createRehearse(client: Client): Rehearse {
  return gatherCalls<OneRehearsal, RehearsedPayments>({
    work: async (group) => {
      const [first] = group
      const { head, rehearsals, payerBalances } = await rehearsePayments(
        client,
        { ...first, payments: group.flatMap(({ payments }) => payments) },
      )
      return group.map((_, at) => ({
        head,
        rehearsals: rehearsals.slice(at, at + 1),
        payerBalances: payerBalances.slice(at, at + 1),
      }))
    },
    choose: (waiting) => {
      const payers = new Set<string>()
      const [first] = waiting
      return waiting.filter((one) => {
        const { from } = one.payments[0].message
        if (payers.has(from) || payers.size >= most) return false
        if (first && !isLike(first, one)) return false
        payers.add(from)
        return true
      })
    },
    atOnce,
    // If the node is down, do not try each payment alone.
    isWorthAlone: (error) => !(error instanceof NodeError),
  })
}

/** True when the captures of both can be simulated in one request. */
function isLike(one: OneRehearsal, other: OneRehearsal): boolean {
  const [{ domain, primaryType, message }] = one.payments
  const [payment] = other.payments
  return (
    domain.verifyingContract === payment.domain.verifyingContract &&
    domain.chainId === payment.domain.chainId &&
    one.kind === other.kind &&
    primaryType === payment.primaryType &&
    message.to === payment.message.to &&
    one.origin === other.origin &&
    one.maxGas === other.maxGas
  )
}
