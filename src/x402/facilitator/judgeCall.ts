import type { Client } from 'viem'
import { getToken } from '../../chain/state/getToken.js'
import { hasCode } from '../../chain/state/hasCode.js'
import type { RefusalReason } from '../../core/revertReason.js'
import { isWrappedSignature } from '../../core/signature.js'
import type { SignedPayment, TokenDomain } from '../../core/types.js'
import {
  checkChainClock,
  type OrdersContext,
  sendersOf,
} from '../../orders/engine.js'
import { checkMessage } from '../../payments/verify/checkMessage.js'
import { wrongChain } from '../../payments/verify/judgeRehearsal.js'
import { rehearsePayments } from '../../payments/verify/rehearsePayments.js'
import type { Rehearsal } from '../../payments/verify/types.js'
import { errorCodeOf, type X402ErrorCode } from '../wire/errorCodes.js'
import { isSignedByKey } from '../wire/isSignedByKey.js'
import type { FacilitatorContext } from './facilitatorContext.js'
import type { FacilitatorCall } from './parseCall.js'

/** `ok` if a payment can be captured now; otherwise the x402 error code. */
export type PaymentJudgement =
  | { ok: true; payment: SignedPayment }
  | { ok: false; code: X402ErrorCode; words?: string | undefined }

/**
 * Simulates the capture of a payment as this facilitator's wallet would send
 * it, so that the token contract decides. Needs two requests, which a batching
 * client sends as one. If several things are wrong, returns the error code that
 * the facilitator of `@x402/evm` would return.
 *
 * @throws {@link ClockSkewError} {@link NodeError} {@link NodeAnswerError}
 */
export async function judgeCall(
  { context, contractPayers }: FacilitatorContext,
  call: FacilitatorCall,
  client: Client,
): Promise<PaymentJudgement> {
  const { domain: named } = call.payment
  const { domain } = await getToken(client, { token: named.verifyingContract })
  const wrongName = nameFault(named, domain)
  if (wrongName) {
    const isSigned = await isSignedByKey(call.payment)
    return refuse(isSigned ? wrongName : signatureCode)
  }
  // Uses the domain that the token itself reports. Its name and version were
  // just found equal to those in the requirements.
  const payment = { ...call.payment, domain }
  const { from, to } = payment.message
  const malformed = checkMessage(payment, payment.signature, {
    token: domain.verifyingContract,
    to,
    amount: '',
  })
  if (malformed?.reason === 'malformedSignature') return refuse(signatureCode)
  const [rehearsal, isContract] = await Promise.all([
    rehearse(context, client, payment),
    hasCode(client, from),
  ])
  if (!isContract && isWrappedSignature(payment.signature))
    return refuse('eip6492_factory_not_allowed')
  const fault = findFault(context, { ...call, payment }, rehearsal)
  if (fault && !isContract && !(await isSignedByKey(payment)))
    return refuse(signatureCode)
  if (fault) return fault
  return isContract && contractPayers === 'refuse'
    ? refuse(errorCodeOf('contractPayer'))
    : { ok: true, payment }
}

const signatureCode: X402ErrorCode = 'invalid_exact_evm_signature'

function refuse(code: X402ErrorCode, words?: string): PaymentJudgement {
  return { ok: false, code, words }
}

function nameFault(
  named: TokenDomain,
  own: TokenDomain,
): X402ErrorCode | undefined {
  if (named.name !== own.name) return 'invalid_exact_evm_token_name_mismatch'
  return named.version === own.version
    ? undefined
    : 'invalid_exact_evm_token_version_mismatch'
}

async function rehearse(
  context: OrdersContext,
  client: Client,
  payment: SignedPayment,
): Promise<Rehearsal> {
  const { chainId } = payment.domain
  const { to: recipient } = payment.message
  const [wallet] = sendersOf(context, { chainId, recipient })
  const { rehearsals } = await rehearsePayments(client, {
    payments: [payment],
    origin: wallet?.submitter.account ?? recipient,
    maxGas: context.policy.maxCaptureGas,
  })
  const [rehearsal] = rehearsals
  if (!rehearsal) throw new Error('A payment was not rehearsed.')
  if (!rehearsal.ok && rehearsal.reason === 'wrongChain')
    throw wrongChain(rehearsal)
  checkChainClock(context, rehearsal.head)
  return rehearsal
}

/**
 * Finds the first reason to refuse a payment. Does not check the signature of a
 * key: the caller does that.
 */
function findFault(
  { policy }: Pick<OrdersContext, 'policy'>,
  { payment, recipient, value }: FacilitatorCall,
  rehearsal: Rehearsal,
): Extract<PaymentJudgement, { ok: false }> | undefined {
  const { from, to, validBefore } = payment.message
  const fail = (reason: RefusalReason, words?: string) => ({
    ok: false as const,
    code: errorCodeOf(reason),
    words,
  })
  if (to !== recipient) return fail('wrongRecipient')
  const { time } = rehearsal.at
  const { reason, words } = rehearsal.ok
    ? { reason: undefined, words: undefined }
    : rehearsal
  if (reason === 'expired' || reason === 'notYetValid') return fail(reason)
  if (validBefore <= time + policy.safetyMargin) return fail('expiresTooSoon')
  if (validBefore > time + policy.maxWindow) return fail('windowTooLong')
  if (payment.message.value !== value) return fail('wrongAmount')
  if (reason) return fail(reason, words)
  return from === to ? fail('selfPayment') : undefined
}
