import type { Hex } from 'viem'
import { divideExactly } from '../../core/divideExactly.js'
import { type ProofReceipt, same } from '../../core/receiptProof.js'
import type { PaymentKind } from '../../payments/kind.js'
import type { ProofRecord } from '../../store/types.js'
import { type HasKinds, kindOf } from './kindOf.js'
import { paymentOf } from './paymentOf.js'
import type { StoredOrder } from './storedOrder.js'

/**
 * Builds the record that a receipt proves: the capture or the cancellation of
 * an attempt. Returns `undefined` if the receipt proves neither.
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
    gasUsed: kind.settling
      ? receipt.gasUsed
      : shareOfGas(receipt, kind.spentLogs(payment)),
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
  // Take the last log that names this nonce. Logs of other nonces do not count:
  // one transaction can cancel several. The nonce of a spend permission is its
  // hash. Its charges log it too, and its revocation comes after them.
  const logs = receipt.logs.filter(({ topics: [, first, second] }) =>
    [first, second].some((topic) => topic?.toLowerCase() === nonce),
  )
  const logIndex = logs.at(-1)?.logIndex
  return isCanceled
    ? { ...shared, kind: 'cancel', logIndex: logIndex ?? 0, value: 0n }
    : undefined
}

/**
 * Returns a payment's share of the gas of a transaction in which the same
 * contract logged that several payment nonces were used; otherwise all of it.
 * The shares add up to it.
 */
function shareOfGas(
  { gasUsed, logs }: ProofReceipt,
  {
    address,
    topics: [event = [], ...names],
  }: ReturnType<PaymentKind['spentLogs']>,
): bigint {
  const events: readonly string[] = [event].flat()
  const used = logs.filter(
    (log) =>
      events.includes(log.topics[0]?.toLowerCase() ?? '') &&
      same(log.address, address),
  )
  const at = used.findIndex(({ topics: [, ...found] }) =>
    names.every((name, place) => same(found[place], String(name))),
  )
  if (at < 0) return gasUsed
  return divideExactly(gasUsed, at, used.length)
}

/** Lowers the case of hex, because the store compares hashes as text. */
function lower(value: Hex): Hex {
  return value.toLowerCase() as Hex
}
