import type { Address, Hash, Hex } from 'viem'
import { topics } from './tokenAbi.js'
import type { Finality, Payment } from './types.js'
import { word } from './words.js'

/** The fields of a log, and of a receipt, that a proof needs. */
export type ProofLog = {
  address: Address
  topics: readonly Hex[]
  data: Hex
  logIndex: number | null
}
export type ProofReceipt = {
  status: 'success' | 'reverted'
  transactionHash: Hash
  blockHash: Hash
  blockNumber: bigint
  from: Address
  gasUsed: bigint
  effectiveGasPrice: bigint
  /** Unix seconds, if the node returns it with the logs. */
  blockTime?: bigint | undefined
  logs: readonly ProofLog[]
}

/** The proof that a payment was captured, from one successful receipt. */
export type CaptureProof = {
  transactionHash: Hash
  /** Zero while the transaction is only pre-confirmed. */
  blockHash: Hash
  blockNumber: bigint
  /** Log index of the exact `Transfer`. */
  logIndex: number
  /**
   * Account that submitted the transaction. Anyone can submit a Transfer
   * payment.
   */
  submitter: Address
  /**
   * Captured token units. Only for a payment with a ceiling; any other is
   * captured for its exact value.
   */
  amount?: bigint | undefined
  gasUsed: bigint
  /** Wei per gas. */
  effectiveGasPrice: bigint
  /** Finality of the block when the proof was read. */
  finality: Finality
}

export const zeroHash: Hash = /* @__PURE__ */ '0x'.padEnd(66, '0') as Hash

/**
 * Finds the proof of a capture in a receipt. A capture needs two events of the
 * token in this order: `AuthorizationUsed(payer, nonce)` and, before the
 * token's next `AuthorizationUsed`, the exact `Transfer`. The first event alone
 * proves nothing: a payer can spend the same nonce on another message.
 */
export function proveCapture(
  receipt: ProofReceipt,
  payment: Payment,
): Omit<CaptureProof, 'finality'> | undefined {
  if (receipt.status !== 'success') return undefined
  const { from, to, value, nonce } = payment.message
  const token = payment.domain.verifyingContract.toLowerCase()
  const logs = receipt.logs.filter(
    ({ address }) => address.toLowerCase() === token,
  )
  const used = logs.findIndex((log) =>
    matches(log, topics.used, `0x${word(from)}`, nonce),
  )
  if (used < 0) return undefined
  for (const log of logs.slice(used + 1)) {
    if (same(log.topics[0], topics.used)) return undefined
    if (
      matches(log, topics.transfer, `0x${word(from)}`, `0x${word(to)}`) &&
      same(log.data, `0x${word(value)}`)
    )
      return proofOf(receipt, log)
  }
  return undefined
}

/** Builds a proof from a receipt and its exact `Transfer`. */
export function proofOf(
  receipt: ProofReceipt,
  transfer: ProofLog,
): Omit<CaptureProof, 'finality'> {
  return {
    transactionHash: receipt.transactionHash,
    blockHash: receipt.blockHash,
    blockNumber: receipt.blockNumber,
    logIndex: transfer.logIndex ?? 0,
    submitter: receipt.from.toLowerCase() as Address,
    gasUsed: receipt.gasUsed,
    effectiveGasPrice: receipt.effectiveGasPrice,
  }
}

/**
 * True when the transaction succeeded and the token logged that it used, or
 * canceled, this payment nonce.
 */
export function proves(
  receipt: ProofReceipt,
  event: 'used' | 'canceled',
  message: { authorizer: Address; nonce: Hex },
  token: Address,
): boolean {
  const authorizer = `0x${word(message.authorizer)}`
  return (
    receipt.status === 'success' &&
    receipt.logs.some(
      (log) =>
        log.address.toLowerCase() === token.toLowerCase() &&
        matches(log, topics[event], authorizer, message.nonce),
    )
  )
}

export function matches(
  log: ProofLog,
  ...expected: readonly string[]
): boolean {
  return (
    log.topics.length === expected.length &&
    expected.every((topic, i) => same(log.topics[i], topic))
  )
}

/** Compares hex. Ignores letter case, because nodes return either. */
export function same(found: string | undefined, expected: string): boolean {
  return found?.toLowerCase() === expected.toLowerCase()
}
