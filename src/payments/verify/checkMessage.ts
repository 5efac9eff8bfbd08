import type { RefusalReason } from '../../core/revertReason.js'
import { tokenSignature } from '../../core/signature.js'
import type { AnyPayment } from '../../core/types.js'
import type { MessageRefusal, PaymentExpectation } from './types.js'

type MessageExpectation = Omit<PaymentExpectation, 'amount' | 'primaryType'> & {
  primaryType?: AnyPayment['primaryType'] | undefined
  /** Not compared here, because the token's decimals are not known yet. */
  amount?: string
}

/**
 * Compares a payment's message with what the merchant expects, without asking a
 * node. Returns the first reason to refuse the payment; `undefined` if there is
 * none.
 */
export function checkMessage(
  { primaryType, domain, message }: AnyPayment,
  signature: unknown,
  expect: MessageExpectation,
): MessageRefusal | undefined {
  if (!tokenSignature(signature))
    return { reason: 'malformedSignature', details: {} }
  const { from, to, nonce, validAfter, validBefore } = message
  const window = validBefore - validAfter
  const { maxWindow = window } = expect
  const checks: readonly (readonly [RefusalReason, unknown, unknown])[] = [
    ['wrongChain', domain.chainId, expect.chainId],
    ['wrongToken', domain.verifyingContract, expect.token],
    ['wrongPrimaryType', primaryType, expect.primaryType],
    ['wrongNonce', nonce, expect.nonce],
    ['wrongPayer', from, expect.from],
    ['wrongRecipient', to, expect.to],
  ]
  for (const [reason, found, expected] of checks)
    if (expected !== undefined && found !== expected)
      return { reason, details: { found, expected } }
  if (from === to) return { reason: 'selfPayment', details: { found: from } }
  // Written so that a `maxWindow` that is not a number refuses the payment too.
  return window <= maxWindow
    ? undefined
    : { reason: 'windowTooLong', details: { window, maxWindow } }
}
