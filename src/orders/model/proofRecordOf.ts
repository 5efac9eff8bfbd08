import type { Hex } from 'viem'
import type { ProofReceipt } from '../../core/receiptProof.js'
import type { ProofRecord } from '../../store/types.js'
import { type HasKinds, kindOf } from './kindOf.js'
import { paymentOf } from './paymentOf.js'
import type { StoredOrder } from './storedOrder.js'

/**
 * Builds the proof that a receipt gives for an attempt: of its capture or its
 * cancellation. `undefined` if it proves neither.
 *
 * @param blockTime Unix seconds.
 */
export function proofRecordOf(
  context: HasKinds,
  receipt: ProofReceipt,
  { order, attempt }: Pick<StoredOrder, 'order' | 'attempt'>,
  blockTime: bigint,
): Omit<ProofRecord, 'version'> | undefined {
  const kind = kindOf(context, order)
  const payment = paymentOf(context, order, attempt)
  const { from, nonce } = payment.message
  const { chainId, token, recipient } = order
  const shared = {
    chainId,
    token,
    recipient,
    transactionHash: lower(receipt.transactionHash),
    orderId: order.id,
    attempt: attempt.number,
    blockHash: lower(receipt.blockHash),
    blockNumber: receipt.blockNumber,
    blockTime,
    payer: from,
    submitter: lower(receipt.from),
    gasUsed: receipt.gasUsed,
    effectiveGasPrice: receipt.effectiveGasPrice,
    removed: false,
  }
  const captured = kind.prove(receipt, payment)
  if (captured)
    return {
      ...shared,
      kind: 'capture',
      logIndex: captured.logIndex,
      value: captured.amount ?? order.value,
    }
  const isCanceled = kind.end(receipt, payment) === 'canceled'
  // Take the last log that names the nonce. One transaction can cancel several
  // nonces, so other logs do not count. A spend permission's nonce is its hash,
  // which its charges name as well, and its revocation comes after all of them.
  const logs = receipt.logs.filter(({ topics: [, first, second] }) =>
    [first, second].some((topic) => topic?.toLowerCase() === nonce),
  )
  const logIndex = logs.at(-1)?.logIndex
  return isCanceled
    ? { ...shared, kind: 'cancel', logIndex: logIndex ?? 0, value: 0n }
    : undefined
}

/** The store keeps hex in lower case, so that equal hashes compare equal. */
function lower(value: Hex): Hex {
  return value.toLowerCase() as Hex
}
