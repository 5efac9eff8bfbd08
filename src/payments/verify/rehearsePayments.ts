import type { Address, Client } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import type { RunHead } from '../../chain/state/types.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { AnySignedPayment } from '../../core/types.js'
import { type CaptureKind, eip3009Capture } from '../kind.js'
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
  /**
   * Well-formed payments of one token and type. For `ReceiveWithAuthorization`,
   * they must also have the same recipient.
   */
  payments: readonly AnySignedPayment[]
  /** Kind of all these payments. @default EIP-3009 */
  kind?: CaptureKind | undefined
  /**
   * Base units of the token to capture, in the order of the payments.
   * @default the values of the messages
   */
  amounts?: readonly bigint[] | undefined
}

/**
 * The results. `rehearsals` and `payerBalances` have the order of the payments.
 */
export type RehearsedPayments = {
  /** The oldest of the blocks at which payments were simulated. */
  head: RunHead
  rehearsals: readonly Rehearsal[]
  /**
   * Each payer's balance before all payments, in base units of the token; 0 if
   * the payment is refused and the token returns none.
   */
  payerBalances: readonly bigint[]
}

/**
 * Most gas for captures in one request. Nodes allow 50 million or more. The
 * rest is for reads that a request needs once, such as the token's decimals.
 */
const gasPerRequest = 44_000_000

/**
 * Simulates many captures one after another on one state, about 250 in a
 * request. So two payments that together exceed their payer's balance do not
 * both pass. A capture for which the token's answer is unclear, or that needs
 * unusually much gas, is simulated again alone. A single payment needs one
 * request.
 *
 * Simulates each payment alone if the node cannot simulate them together, and
 * always if they have a ceiling. The gas of a capture that was simulated with
 * others is an upper bound.
 *
 * @throws {@link InvalidFieldError} when a payment is malformed or of another
 * kind than the first.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function rehearsePayments(
  client: Client,
  {
    payments,
    kind = eip3009Capture,
    amounts = [],
    ...options
  }: RehearsePaymentsParameters,
): Promise<RehearsedPayments> {
  const plans = payments.map((payment, at) =>
    planRehearsal(payment, {
      maxGas: options.maxGas,
      kind,
      amount: amounts[at],
    }),
  )
  const isExact = kind.total === 'amount'
  if (isExact) checkKind(payments)
  const chunks = isExact ? chunkByPayer(plans) : []
  const together = new Map(
    (
      await Promise.all(
        chunks.map((chunk) => rehearseAll(client, chunk, options)),
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

function checkKind(payments: readonly AnySignedPayment[]): void {
  const [first] = payments
  const isOdd = ({ domain, message, primaryType }: AnySignedPayment) =>
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

/**
 * Splits captures into chunks that fit a request. Keeps a payer's payments next
 * to each other, so that most of them are simulated on one state.
 */
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

/**
 * One result. `run` is the same object for all captures that were simulated on
 * one state.
 */
type RehearsedPayment = RehearsedAlone & { run: object | undefined }

type TogetherResults = readonly (readonly [RehearsalPlan, RehearsedTogether])[]

/**
 * Simulates a chunk of captures together. If that fails, simulates the first
 * one alone, then each half of the others together.
 */
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
    // Without state overrides, the node cannot simulate captures together.
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
  // Takes verdict and balance from the same request, because another request
  // may see another block.
  return alone.rehearsal.ok && otherwise && payerBalance !== undefined
    ? { rehearsal: otherwise, payerBalance, run: undefined }
    : { ...alone, run: undefined }
}

/**
 * Refuses a payment if its payer cannot pay for it after the earlier payments
 * of the list. Captures on another simulated state did not lower the balance,
 * so this is computed here. A capture with a ceiling takes the whole ceiling
 * and returns the rest: the payer must have the ceiling, and loses only the
 * amount.
 */
function refuseOverdrawn(
  plans: readonly RehearsalPlan[],
  all: readonly RehearsedPayment[],
): readonly Rehearsal[] {
  const recipients = new Set(plans.map(({ call }) => call.transfer.to))
  const spent = new Map<Address, { total: bigint; run: object | undefined }>()
  return all.map(({ rehearsal, payerBalance, run }, index) => {
    const plan = plans[index]
    if (!plan || !rehearsal.ok) return rehearsal
    const { from, value } = plan.call.transfer
    if (recipients.has(from)) return rehearsal
    const before = spent.get(from)
    const { total = 0n } = before ?? {}
    const apart = before && (!run || run !== before.run)
    if (apart && total + plan.pulled > payerBalance) {
      const { head, at } = rehearsal
      return { ok: false, head, at, reason: 'insufficientFunds' }
    }
    spent.set(from, {
      total: total + value,
      run: apart ? undefined : run,
    })
    return rehearsal
  })
}
