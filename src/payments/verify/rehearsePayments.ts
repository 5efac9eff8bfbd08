import type { Address, Client } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import type { RunHead } from '../../chain/state/types.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { SignedPayment } from '../../core/types.js'
import type { RehearsalOptions } from './rehearse.js'
import {
  planRehearsal,
  type RehearsalPlan,
  type RehearsedAlone,
  rehearseAlone,
  weightOf,
} from './rehearseAlone.js'
import { type RehearsedTogether, rehearseTogether } from './rehearseTogether.js'
import type { Rehearsal } from './types.js'

export type RehearsePaymentsParameters = RehearsalOptions & {
  /** Of one token, and for Receive of one recipient; well-formed. */
  payments: readonly SignedPayment[]
}

/** The results of rehearsals, in the order of their payments. */
export type RehearsedPayments = {
  /** The oldest block any of them was judged at. */
  head: RunHead
  rehearsals: readonly Rehearsal[]
  /** Token units before any of the payments; 0 where the token shows none. */
  payerBalances: readonly bigint[]
}

/** Nodes allow 50 million and more; the rest is for what is asked but once. */
const gasPerRequest = 44_000_000

/**
 * Simulates the captures of many payments one after another on one state, about
 * 250 a request, so that two which together exceed their payer's balance are not
 * both fine. What the token's words leave open is rehearsed again alone, as is a
 * capture that takes more gas than most. One payment takes one request.
 *
 * If a node cannot simulate them together, each is rehearsed alone. The gas of a
 * capture among others is a bound, not a measure.
 *
 * @throws {@link InvalidFieldError} when they are not of one kind, or malformed.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked.
 */
export async function rehearsePayments(
  client: Client,
  { payments, ...options }: RehearsePaymentsParameters,
): Promise<RehearsedPayments> {
  const plans = payments.map((payment) =>
    planRehearsal(payment, options.maxGas),
  )
  checkKind(payments)
  const together = new Map(
    (
      await Promise.all(
        chunkByPayer(plans).map((chunk) => rehearseAll(client, chunk, options)),
      )
    ).flat(),
  )
  const all = await Promise.all(
    plans.map((plan) => settle(client, plan, options, together.get(plan))),
  )
  const heads = all.map(({ rehearsal }) => rehearsal.head)
  return {
    head: heads.reduce((one, other) =>
      other.number < one.number ? other : one,
    ),
    rehearsals: refuseOverdrawn(plans, all),
    payerBalances: all.map(({ payerBalance }) => payerBalance),
  }
}

function checkKind(payments: readonly SignedPayment[]): void {
  const [first] = payments
  const isOdd = ({ domain, message, primaryType }: SignedPayment) =>
    domain.verifyingContract !== first?.domain.verifyingContract ||
    primaryType !== first.primaryType ||
    (primaryType === 'ReceiveWithAuthorization' &&
      message.to !== first.message.to)
  if (!first || payments.some(isOdd))
    throw new InvalidFieldError(
      'payments',
      payments,
      'a list of payments with one token, type and recipient',
    )
}

/** Chunks that fit a request, where there are several a payer's in one row. */
function chunkByPayer(
  plans: readonly RehearsalPlan[],
): readonly (readonly RehearsalPlan[])[] {
  if (weigh(plans) <= gasPerRequest) return [plans]
  const byPayer = new Map<Address, RehearsalPlan[]>()
  for (const plan of plans) {
    const { payer } = plan.call
    const group = byPayer.get(payer) ?? []
    byPayer.set(payer, group)
    group.push(plan)
  }
  const chunks: RehearsalPlan[][] = []
  for (const plan of [...byPayer.values()].flat()) {
    const chunk = chunks.at(-1)
    if (chunk && weigh([...chunk, plan]) <= gasPerRequest) chunk.push(plan)
    else chunks.push([plan])
  }
  return chunks
}

function weigh(plans: readonly RehearsalPlan[]): number {
  return plans.reduce((sum, plan) => sum + weightOf(plan), 0)
}

/** A run is what was simulated on one state. */
type RehearsedPayment = RehearsedAlone & { run: object | undefined }

type TogetherResults = readonly (readonly [RehearsalPlan, RehearsedTogether])[]

/** Rehearses a chunk together, or if that fails as much of it as possible. */
async function rehearseAll(
  client: Client,
  plans: readonly RehearsalPlan[],
  options: RehearsalOptions,
): Promise<TogetherResults> {
  const [first, second, ...others] = plans
  if (!first || !second) return []
  try {
    return await rehearseTogether(client, [first, second, ...others], options)
  } catch (error) {
    if (!(error instanceof NodeAnswerError)) throw error
    const alone = await rehearseAlone(client, first, options)
    const results: TogetherResults = [[first, { ...alone, run: undefined }]]
    // Without overrides none can be simulated together.
    if (alone.rehearsal.head.via === 'calls') return results
    const half = Math.ceil(plans.length / 2)
    const halves = [plans.slice(1, half), plans.slice(half)]
    const rest = halves.map((half) => rehearseAll(client, half, options))
    return [...results, ...(await Promise.all(rest)).flat()]
  }
}

async function settle(
  client: Client,
  plan: RehearsalPlan,
  options: RehearsalOptions,
  { rehearsal, otherwise, payerBalance, run }: Partial<RehearsedTogether> = {},
): Promise<RehearsedPayment> {
  if (rehearsal && payerBalance !== undefined)
    return { rehearsal, payerBalance, run }
  const alone = await rehearseAlone(client, plan, options)
  return {
    run: undefined,
    rehearsal: (alone.rehearsal.ok && otherwise) || alone.rehearsal,
    payerBalance: payerBalance ?? alone.payerBalance,
  }
}

/** Refuses what a payer cannot pay beside what was simulated on another state. */
function refuseOverdrawn(
  plans: readonly RehearsalPlan[],
  all: readonly RehearsedPayment[],
): readonly Rehearsal[] {
  const recipients = new Set(plans.map(({ call }) => call.transfer.to))
  const spent = new Map<Address, { total: bigint; run: object | undefined }>()
  return all.map(({ rehearsal, payerBalance, run }, index) => {
    const transfer = plans[index]?.call.transfer
    if (!transfer || !rehearsal.ok || recipients.has(transfer.from))
      return rehearsal
    const { from, value } = transfer
    const before = spent.get(from)
    const total = (before?.total ?? 0n) + value
    const apart = before && (!run || run !== before.run)
    if (apart && total > payerBalance) {
      const { head, at } = rehearsal
      return { ok: false, head, at, reason: 'insufficientFunds' }
    }
    spent.set(from, { total, run: apart ? undefined : run })
    return rehearsal
  })
}
