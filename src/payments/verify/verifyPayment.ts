import type { Address, Client } from 'viem'
import { parseBlock } from '../../chain/logs/encodeLogFilter.js'
import type { BlockSelector } from '../../chain/rpc/requestNode.js'
import { parseAmount } from '../../core/amount.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { checkClock, parseTime } from '../../core/clock.js'
import { parseBytes32 } from '../../core/fields.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import type { AnyPayment, AnySignedPayment } from '../../core/types.js'
import { type CaptureKind, eip3009Capture, type PaymentKind } from '../kind.js'
import { expectedOf } from '../message/kind.js'
import { checkMessage } from './checkMessage.js'
import { rehearseCapture } from './rehearse.js'
import {
  type CeilingExpectation,
  expectationMembers,
  type MessageRefusal,
  type PaymentExpectation,
  type PaymentVerdict,
  type Rehearsal,
} from './types.js'

/** The payment, and what {@link verifyPayment} compares it with. */
export type VerifyPaymentParameters = {
  payment: AnySignedPayment
  expect: PaymentExpectation | CeilingExpectation
  /** Pass `checkout` for a checkout payment. @default EIP-3009 */
  kind?: PaymentKind | undefined
  /**
   * The block on whose state the capture is simulated.
   * @default 'latest'
   */
  block?: BlockSelector | undefined
  /**
   * Most gas that the capture may use. A payment that needs more is refused.
   * @default 300_000n
   */
  maxCaptureGas?: bigint | undefined
  /**
   * Unix seconds with which the chain's clock is compared.
   * @default the wall clock
   */
  now?: bigint | undefined
}

const members: MembersOf<VerifyPaymentParameters> = {
  payment: true,
  expect: true,
  kind: true,
  block: true,
  maxCaptureGas: true,
  now: true,
}

/**
 * Verifies a signed payment by simulating its capture: the token's own code
 * checks signature, window, nonce, balance, pause and block list, called by the
 * recipient or operator at the time of the chain. Needs one request if the node
 * supports state overrides, and none if the message alone decides.
 *
 * A passing verdict holds for its block: the payer can still move the funds or
 * cancel, and a contract wallet can refuse a signature that it accepted before.
 * The node sees the signature during the simulation.
 *
 * @throws {@link InvalidFieldError} {@link InvalidAmountError} when payment,
 * expectation or block are malformed.
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120
 * s.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answer is malformed.
 *
 * @example
 * ```ts
 * import { decodePayment, verifyPayment } from 'countersign'
 * import { createPublicClient, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * const client = createPublicClient({ chain: base, transport: http() })
 *
 * export async function accept(body: string) {
 *   const payment = decodePayment(body)
 *   if (!('signature' in payment)) return 'not signed'
 *   const verdict = await verifyPayment(client, {
 *     payment,
 *     expect: {
 *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *       to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *       amount: '12.50',
 *     },
 *   })
 *   return verdict.ok ? 'accepted' : verdict.reason
 * }
 * ```
 */
export async function verifyPayment(
  client: Client,
  parameters: VerifyPaymentParameters,
): Promise<PaymentVerdict> {
  checkMembers(parameters, members)
  const { block: given = 'latest' } = parameters
  const block = parseBlock(given)
  const now = parseTime(parameters.now)
  const { kind = eip3009Capture } = parameters
  const { payment, expect, refusal } = parseClaim(client, parameters, kind)
  if (refusal) return { ok: false, ...refusal }

  const rehearsal = await rehearseCapture(client, payment, {
    block,
    maxGas: parameters.maxCaptureGas,
    kind,
  })
  return judgePayment(payment, expect, rehearsal, block, now)
}

/** A parsed expectation: with the exact amount, or with the ceiling. */
export type ParsedExpectation = Omit<
  PaymentExpectation,
  'amount' | 'primaryType'
> & {
  total: string
}

type Claim = {
  payment: AnySignedPayment
  expect: ParsedExpectation
  refusal: MessageRefusal | undefined
}

/**
 * Parses a payment and compares its message with the expectation.
 *
 * @throws {@link InvalidFieldError} when payment or expectation are malformed.
 */
export function parseClaim(
  client: Client,
  given: Pick<VerifyPaymentParameters, 'payment' | 'expect'>,
  kind: CaptureKind = eip3009Capture,
): Claim {
  const { signature, ...unsigned } = Object(given.payment)
  const payment = kind.parse(unsigned)
  const { operator, ...expect } = parseExpectation(given.expect, client, kind)
  const accounts = kind.accounts(payment)
  // Some kinds name the recipient outside the message, so it is added here.
  const message = { ...payment.message, to: accounts.recipient }
  const paid = { ...payment, message }
  const refusal =
    checkMessage(paid, signature, expect) ??
    checkOperator(accounts.operator, operator)
  return { payment: { ...payment, signature }, expect, refusal }
}

function checkOperator(
  found: Address | undefined,
  expected: Address | undefined,
): MessageRefusal | undefined {
  return expected === undefined || found === expected
    ? undefined
    : { reason: 'wrongOperator', details: { found, expected } }
}

/**
 * Turns a simulated capture into a verdict, by what the merchant expects.
 *
 * @throws {@link ClockSkewError} when chain and wall clock differ too far.
 */
export function judgePayment(
  payment: AnySignedPayment,
  expect: ParsedExpectation,
  rehearsal: Rehearsal,
  block: BlockSelector,
  now: bigint,
): PaymentVerdict {
  const { head, at } = rehearsal
  if (block === 'latest' || block === 'pending') checkClock(head, now)
  if (!rehearsal.ok) {
    const { reason, words } = rehearsal
    const found = payment.domain.chainId
    const details =
      reason === 'wrongChain' ? { found, expected: head.chainId } : {}
    return { ok: false, reason, details: words ? { words } : details, at }
  }
  const late = checkPolicy(payment, expect, {
    decimals: rehearsal.decimals,
    time: at.time,
  })
  return late ? { ok: false, ...late, at } : { ok: true, at }
}

/**
 * Checks the amount and the time left until `validBefore`. They are checked
 * after the simulation, because they need the token's decimals and the block
 * time.
 */
function checkPolicy(
  { message }: AnyPayment,
  { total, minRemaining = 0n }: ParsedExpectation,
  { decimals, time }: { decimals: number; time: bigint },
): MessageRefusal | undefined {
  const value = parseAmount(total, decimals)
  if (message.value !== value)
    return {
      reason: 'wrongAmount',
      details: { value: message.value, expected: value },
    }
  const remaining = message.validBefore - time
  return remaining >= minRemaining
    ? undefined
    : { reason: 'expiresTooSoon', details: { remaining, minRemaining } }
}

type AnyExpectation = PaymentExpectation & CeilingExpectation

function parseExpectation(
  given: PaymentExpectation | CeilingExpectation,
  client: Client,
  kind: CaptureKind,
): ParsedExpectation & {
  primaryType: AnyPayment['primaryType']
  operator: Address | undefined
} {
  checkMembers<object>(
    given,
    { ...expectationMembers, ...expectedOf(kind) },
    'expect',
  )
  const expect: AnyExpectation = Object(given)
  const address = (field: 'token' | 'to' | 'from' | 'operator') =>
    parseCheckedAddress(expect[field], `expect.${field}`)
  const to = address('to')
  const named = expect.operator === undefined ? to : address('operator')
  return {
    ...expect,
    token: address('token'),
    to,
    total: expect[kind.total],
    operator: kind.total === 'atMost' ? named : undefined,
    from: expect.from === undefined ? undefined : address('from'),
    nonce:
      expect.nonce === undefined
        ? undefined
        : parseBytes32(expect.nonce, 'expect.nonce'),
    primaryType: expect.primaryType ?? kind.primaryType,
    chainId: expect.chainId ?? client.chain?.id,
  }
}
