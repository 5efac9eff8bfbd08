import type { Address, Client } from 'viem'
import { isWord, readWord } from '../../chain/state/executor.js'
import { forgetToken } from '../../chain/state/getToken.js'
import { runCalls } from '../../chain/state/runCalls.js'
import type {
  AnySignedPayment,
  PaymentAuthorization,
} from '../../core/types.js'
import { eip3009Capture } from '../kind.js'
import { isPlain } from '../message/encodeCall.js'
import { judgeRehearsal } from './judgeRehearsal.js'
import {
  balanceCall,
  type CaptureRehearsalOptions,
  captureCallOf,
  defaultMaxCaptureGas,
  factCalls,
  fixedGasOf,
  plainFallback,
  type RehearsalOptions,
  rehearsalStep,
} from './rehearse.js'
import type { FixedGas, Rehearsal, RehearsedCall } from './types.js'

/** A capture to simulate, alone or with others in one request. */
export type RehearsalPlan = {
  call: RehearsedCall & { transfer: PaymentAuthorization }
  /**
   * Base units of the token that the payer must have at the capture: the
   * amount, or the ceiling.
   */
  pulled: bigint
  fixed: FixedGas
  /** Largest gas limit that is allowed for the capture. */
  allowed: number
  /**
   * Gas limit of the capture in a request with others. The node counts the
   * whole limit against the request, even if less is used.
   */
  given: number
}

/**
 * Gas limit for a capture with a signature of 65 bytes: 1.5 times what the
 * tokens in use need.
 */
const usualGas = 100_000

/**
 * Gas to read a balance for the first time in a request (cold access,
 * EIP-2929), also behind proxies.
 */
export const balanceGas = 25_000

/**
 * Gas for each further read of a token in a request (warm access, EIP-2929).
 */
export const factGas = 20_000

export function planRehearsal(
  payment: AnySignedPayment,
  {
    maxGas = defaultMaxCaptureGas,
    kind = eip3009Capture,
    amount = payment.message.value,
  }: CaptureRehearsalOptions = {},
): RehearsalPlan {
  const call = captureCallOf(payment, kind, amount)
  const { encoded } = call
  const fixed = fixedGasOf(encoded.data)
  const allowed = Math.max(Number(maxGas) - fixed.intrinsic, 0)
  return {
    call,
    pulled: payment.message.value,
    fixed,
    allowed,
    // A contract wallet runs code of unknown cost, so its capture gets the full
    // limit.
    given: isPlain(encoded.signature) ? Math.min(usualGas, allowed) : allowed,
  }
}

/**
 * Returns the gas that one simulated capture and its reads need in a request
 * that simulates several, plus 5%.
 */
export function weightOf({ given }: RehearsalPlan): number {
  return (given + balanceGas + 2 * factGas) * 1.05
}

/**
 * The result of a simulated capture, and the payer's token balance before it: 0
 * if the capture is refused and the token returns none.
 */
export type RehearsedAlone = { rehearsal: Rehearsal; payerBalance: bigint }

/**
 * @throws {@link NodeAnswerError} when the capture succeeds, but the node does
 * not return the balance.
 */
export async function rehearseAlone(
  client: Client,
  { call, fixed, allowed }: RehearsalPlan,
  { block = 'latest', origin, fees }: RehearsalOptions,
): Promise<RehearsedAlone> {
  const token = call.domain.verifyingContract
  const { to } = call.transfer
  const from = call.operator ?? to
  const answers = await runCalls(client, {
    from,
    origin: origin?.toLowerCase() as Address | undefined,
    fees,
    steps: [rehearsalStep(call, allowed), balanceCall(token, to)],
    calls: {
      ...factCalls(token, call),
      payerBalance: balanceCall(token, call.payer),
    },
    block,
    fallback: plainFallback(call),
    plain: from === token,
  })
  const rehearsal = judgeRehearsal(call, answers, { gas: allowed, fixed })
  const { reason } = Object(rehearsal)
  if (reason === 'wrongDomain' || reason === 'unsupportedToken')
    forgetToken(client, token)
  const { payerBalance } = answers.calls
  return {
    rehearsal,
    // A refusal stands without the balance.
    payerBalance:
      rehearsal.ok || isWord(payerBalance)
        ? readWord(payerBalance, 'balance of the payer')
        : 0n,
  }
}
