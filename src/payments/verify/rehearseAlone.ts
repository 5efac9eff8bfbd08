import type { Address, Client } from 'viem'
import { isWord } from '../../chain/state/executor.js'
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

/** A capture to rehearse, alone or with others in one request. */
export type RehearsalPlan = {
  call: RehearsedCall & { transfer: PaymentAuthorization }
  /** Token units the payer needs at the capture: the amount, or the ceiling. */
  pulled: bigint
  fixed: FixedGas
  /** Most gas the capture may use. */
  allowed: number
  /**
   * Gas limit of the capture in a request with others. The node counts the
   * whole limit, used or not.
   */
  given: number
}

/**
 * Gas for a capture whose signature has 65 bytes: 1.5 times what real tokens
 * use.
 */
const usualGas = 100_000

/** Gas to read a balance, while the token's proxies may be cold (EIP-2929). */
export const balanceGas = 25_000

/** Gas for each further read, when the token's account is warm (EIP-2929). */
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
    // A contract wallet runs code of unknown cost, so it gets the full limit.
    given: isPlain(encoded.signature) ? Math.min(usualGas, allowed) : allowed,
  }
}

/**
 * Gas that a capture and the reads for it add to a request with others, plus
 * 5%.
 */
export function weightOf({ given }: RehearsalPlan): number {
  return (given + balanceGas + 2 * factGas) * 1.05
}

/**
 * The result of a rehearsed capture, and the payer's token balance before it.
 */
export type RehearsedAlone = { rehearsal: Rehearsal; payerBalance: bigint }

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
    payerBalance: isWord(payerBalance) ? BigInt(payerBalance.data) : 0n,
  }
}
