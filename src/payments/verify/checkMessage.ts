import type { RefusalReason } from '../../core/revertReason.js'
import { tokenSignature } from '../../core/signature.js'
import type { AnyPayment } from '../../core/types.js'
import type { MessageRefusal, PaymentExpectation } from './types.js'

type MessageExpectation = Omit<PaymentExpectation, 'amount' | 'primaryType'> & {
  primaryType?: AnyPayment['primaryType'] | undefined
  /** Checked later, when the token's decimals are known. */
  amount?: string
}

/**
 * Compares a message with what the merchant expects, without a node. Returns
 * the first reason to refuse the payment.
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
  // Also refuses if `maxWindow` is not a number.
  return window <= maxWindow
    ? undefined
    : { reason: 'windowTooLong', details: { window, maxWindow } }
}
