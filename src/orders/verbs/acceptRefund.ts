import type { Hex } from 'viem'
import { formatAmount } from '../../core/amount.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { invalidSignature } from '../../core/errors.js'
import { hashHex } from '../../core/keccak.js'
import { normalizeSignature } from '../../core/signature.js'
import { verifyPayment } from '../../payments/verify/verifyPayment.js'
import type { OrdersContext } from '../context/types.js'
import { clientOf } from '../evidence/clientOf.js'
import { refundPaymentOf } from '../model/paymentOf.js'
import { hasNonce } from '../model/refundRow.js'
import type { AcceptRefundVerdict } from '../model/refundVerdicts.js'
import { refundFailure, showRefund } from '../model/showRefund.js'
import type { StoredRefund } from '../model/storedOrder.js'
import { storeSigned } from '../model/writeRefund.js'
import { findRefund } from './refundToSign.js'

/** Parameters of `acceptRefund`: a refund and its signature. */
export type AcceptRefundParameters = {
  orderId: string
  refundId: string
  /** The recipient's signature of the payment that `refundToSign` returned. */
  signature: Hex
}

const members: MembersOf<AcceptRefundParameters> = {
  orderId: true,
  refundId: true,
  signature: true,
}

/** Implements `acceptRefund` of `DestinationOrders`. */
export async function acceptRefund(
  context: OrdersContext,
  parameters: AcceptRefundParameters,
): Promise<AcceptRefundVerdict> {
  checkMembers(parameters, members)
  const signature = parseSignature(parameters.signature)
  const found = await findRefund(context, parameters)
  const { row, stored } = found
  const { attempt } = stored
  const signatureHash = hashHex(signature, context.keccak256)
  const isSame = ({ stored }: StoredRefund) =>
    stored.attempt.signatureHash === signatureHash
  if (isSame(found)) return accepted(found)
  if (row.state !== 'drafted' || !hasNonce(attempt))
    return { ok: false, reason: 'notOpen', refund: showRefund(stored, row) }
  const payment = { ...refundPaymentOf(row, attempt), signature }
  const verdict = await verifyPayment(clientOf(context, row), {
    payment,
    expect: {
      token: row.token,
      from: row.recipient,
      to: row.payee,
      amount: formatAmount(row.value, row.decimals),
      nonce: attempt.nonce,
      primaryType: payment.primaryType,
      minRemaining: context.policy.safetyMargin,
    },
  })
  const isStored =
    verdict.ok && (await storeSigned(context, found, { signature }))
  const after = await findRefund(context, parameters)
  // Another process may have stored this signature meanwhile, and even sent the
  // refund, which makes its nonce invalid here.
  if (isStored || isSame(after)) return accepted(after)
  return {
    ok: false,
    reason: verdict.ok ? 'notOpen' : refundFailure(verdict.reason),
    refund: showRefund(after.stored, after.row),
  }
}

function accepted({ row, stored }: StoredRefund): AcceptRefundVerdict {
  return { ok: true, refund: showRefund(stored, row) }
}

function parseSignature(given: unknown): Hex {
  const isHex = typeof given === 'string' && /^0x(?:[\da-f]{2})+$/i.test(given)
  const signature = isHex ? normalizeSignature(given as Hex) : undefined
  if (signature) return signature
  throw invalidSignature('signature', given, 'a signature in hex')
}
