import type { Client } from 'viem'
import { parseBlock } from '../../chain/logs/encodeLogFilter.js'
import type { BlockSelector } from '../../chain/rpc/requestNode.js'
import { CountersignError } from '../../core/CountersignError.js'
import { checkMembers } from '../../core/checkMembers.js'
import { parseTime } from '../../core/clock.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { SignedPayment } from '../../core/types.js'
import { rehearseKinds } from './rehearseKinds.js'
import type { PaymentExpectation, PaymentVerdict } from './types.js'
import {
  judgePayment,
  type ParsedExpectation,
  parseClaim,
} from './verifyPayment.js'

/** A payment, and what the merchant expects of it. */
export type PaymentToVerify = {
  payment: SignedPayment
  expect: PaymentExpectation
}

/** The payments, and the options of {@link verifyPayments}. */
export type VerifyPaymentsParameters = {
  payments: readonly PaymentToVerify[]
  /**
   * The block on whose state the captures are simulated.
   * @default 'latest'
   */
  block?: BlockSelector | undefined
  /**
   * Most gas that each capture may use. A payment that needs more is refused.
   * @default 300_000n
   */
  maxCaptureGas?: bigint | undefined
  /**
   * Unix seconds with which the chain's clock is compared.
   * @default the wall clock
   */
  now?: bigint | undefined
}

/**
 * The verdict on a payment of a list, or the error that prevented a verdict.
 */
export type ListedVerdict =
  | PaymentVerdict
  | { ok: false; reason: 'notVerified'; error: CountersignError }

/**
 * Verifies many signed payments like {@link verifyPayment}, but simulates them
 * one after another on one state: about 250 payments of a token to one
 * recipient in one request. If payments together exceed their payer's balance,
 * the later ones get `insufficientFunds`. A nonce used twice is `consumed` the
 * second time.
 *
 * Returns the verdicts in the order of the payments. A payment that is
 * malformed, or that the node fails on, gets `notVerified` with the error; all
 * other payments get verdicts. The gas in `at` is an upper bound.
 *
 * @throws {@link InvalidFieldError} when the list or an option is malformed.
 *
 * @example
 * ```ts
 * import { type SignedPayment, verifyPayments } from 'countersign'
 * import { createPublicClient, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * const client = createPublicClient({ chain: base, transport: http() })
 *
 * export async function findGood(payments: readonly SignedPayment[]) {
 *   const verdicts = await verifyPayments(client, {
 *     payments: payments.map((payment) => ({
 *       payment,
 *       expect: {
 *         token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *         to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *         amount: '12.50',
 *       },
 *     })),
 *   })
 *   return payments.filter((_, index) => verdicts[index]?.ok)
 * }
 * ```
 */
export async function verifyPayments(
  client: Client,
  parameters: VerifyPaymentsParameters,
): Promise<readonly ListedVerdict[]> {
  checkMembers(parameters, ['payments', 'block', 'maxCaptureGas', 'now'])
  const { payments, block = 'latest', maxCaptureGas } = parameters
  if (!Array.isArray(payments))
    throw new InvalidFieldError('payments', payments, 'a list')
  const options: Options = {
    block: parseBlock(block),
    maxGas: maxCaptureGas,
    now: parseTime(parameters.now),
  }
  const listed = payments.map((given) => keepError(() => read(client, given)))
  const claims = listed.flatMap((one) => ('ok' in one ? [] : [one]))
  const verdicts = await judgeClaims(client, claims, options)
  return listed.map((one) => ('ok' in one ? one : mustFind(verdicts, one)))
}

type Options = {
  block: BlockSelector
  maxGas: bigint | undefined
  now: bigint
}

/** A payment whose message is as the merchant expects. */
type Claim = {
  payment: SignedPayment
  expect: ParsedExpectation
}

function read(client: Client, given: PaymentToVerify): PaymentVerdict | Claim {
  checkMembers(given, ['payment', 'expect'], 'payments')
  const one: PaymentToVerify = Object(given)
  const { payment, expect, refusal } = parseClaim(client, one)
  if (refusal) return { ok: false, ...refusal }
  // The cast is needed because the compiler does not know that this kind parses
  // no permits.
  if (payment.primaryType === 'Permit')
    return { ok: false, reason: 'wrongPrimaryType', details: {} }
  return { payment, expect }
}

type Verdicts = ReadonlyMap<Claim, ListedVerdict>

/**
 * Simulates payments one after another on one state, and compares each with its
 * expectation. A payment can pass the simulation and still be refused by its
 * expectation. In the simulation it has spent its payer's money, so later
 * payments of this payer may have failed wrongly. They are simulated again
 * without it.
 */
async function judgeClaims(
  client: Client,
  claims: readonly Claim[],
  { block, maxGas, now }: Options,
): Promise<Verdicts> {
  const payments = claims.map(({ payment }) => payment)
  const rehearsed = await rehearseKinds(client, payments, {
    block,
    maxGas,
  })
  const spend = openLedger(payments)
  const verdicts = new Map<Claim, ListedVerdict>()
  const spoilers = new Set<Claim>()
  const spenders = new Set<string>()
  const spoiled = new Set<string>()
  for (const claim of claims) {
    const { payment, expect } = claim
    const result = mustFind(rehearsed, payment)
    const verdict = keepError(() => {
      if (result.error) throw result.error
      const { rehearsal, payerBalance } = result
      const alone = judgePayment(payment, expect, rehearsal, block, now)
      return alone.ok ? spend(payment, payerBalance, alone) : alone
    })
    verdicts.set(claim, verdict)
    const payer = payerOf(payment)
    if (verdict.ok) continue
    if (result.rehearsal?.ok) {
      spoilers.add(claim)
      spenders.add(payer)
    } else if (spenders.has(payer)) spoiled.add(payer)
  }
  if (!spoiled.size) return verdicts
  const again = claims.filter(
    (claim) => spoiled.has(payerOf(claim.payment)) && !spoilers.has(claim),
  )
  const judged = await judgeClaims(client, again, { block, maxGas, now })
  return new Map([...verdicts, ...judged])
}

type Passed = Extract<PaymentVerdict, { ok: true }>

type Spend = (
  payment: SignedPayment,
  /** The payer's balance before all payments of the list. */
  balance: bigint,
  verdict: Passed,
) => PaymentVerdict

/**
 * Adds up what each payer spends in all groups, because each group is simulated
 * on a state of its own. Ignores what a payer would receive from other payments
 * of the list.
 */
function openLedger(payments: readonly SignedPayment[]): Spend {
  const recipients = new Set(
    payments.map((payment) => accountOf(payment, payment.message.to)),
  )
  const spent = new Map<string, bigint>()
  const nonces = new Set<string>()
  return (payment, balance, { at }) => {
    const payer = payerOf(payment)
    const { value, nonce } = payment.message
    const before = spent.get(payer)
    const total = (before ?? 0n) + value
    const counts = before !== undefined || recipients.has(payer)
    const refuse = (reason: 'consumed' | 'insufficientFunds') =>
      ({ ok: false, reason, details: {}, at }) as const
    if (nonces.has(payer + nonce)) return refuse('consumed')
    if (counts && total > balance) return refuse('insufficientFunds')
    nonces.add(payer + nonce)
    spent.set(payer, total)
    return { ok: true, at }
  }
}

function payerOf(payment: SignedPayment): string {
  return accountOf(payment, payment.message.from)
}

function accountOf({ domain }: SignedPayment, account: string): string {
  return domain.verifyingContract + account
}

/** Turns an error into the verdict of the payment that caused it. */
function keepError<result>(
  judge: () => result,
): result | Extract<ListedVerdict, { reason: 'notVerified' }> {
  try {
    return judge()
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error
    return { ok: false, reason: 'notVerified', error }
  }
}

function mustFind<key, value>(all: ReadonlyMap<key, value>, key: key): value {
  const found = all.get(key)
  if (found === undefined) throw new Error('A verdict is missing.')
  return found
}
