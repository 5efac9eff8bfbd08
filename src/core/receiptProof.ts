import type { Address, Hash, Hex } from 'viem'
import { topics } from './tokenAbi.js'
import type { Finality, Payment } from './types.js'
import { word } from './words.js'

/** The fields of a log and of its receipt that prove a payment. */
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
  /**
   * Time of the block in Unix seconds. Absent if the node does not return it
   * with the logs.
   */
  blockTime?: bigint | undefined
  logs: readonly ProofLog[]
}

/** Proof that a payment was captured: the facts of one successful receipt. */
export type CaptureProof = {
  transactionHash: Hash
  /** 32 zero bytes while the transaction is only pre-confirmed. */
  blockHash: Hash
  blockNumber: bigint
  /** Log index of the token's `Transfer` event with the exact amount. */
  logIndex: number
  /**
   * Account that submitted the transaction. It is not always the recipient's:
   * anyone can submit a `TransferWithAuthorization`.
   */
  submitter: Address
  /**
   * Captured amount in base units of the token. Set only for a payment with a
   * ceiling; any other is captured for its exact value.
   */
  amount?: bigint | undefined
  gasUsed: bigint
  /** Wei per gas. */
  effectiveGasPrice: bigint
  /** Finality of the transaction's block at the time of reading. */
  finality: Finality
}

export const zeroHash: Hash = /* @__PURE__ */ '0x'.padEnd(66, '0') as Hash

/**
 * Finds the proof of a capture in a receipt. The token must have logged two
 * events in this order: `AuthorizationUsed(payer, nonce)`, and before its next
 * `AuthorizationUsed` the exact `Transfer`. The first event alone proves
 * nothing: a payer can use the same nonce for another message.
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

/** Builds the proof from a receipt and the `Transfer` that was found in it. */
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
 * True when the transaction succeeded and the token logged that this payment
 * nonce was used or canceled.
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

/**
 * True when two hex texts are equal, whether in upper or lower case: nodes
 * return both.
 */
export function same(found: string | undefined, expected: string): boolean {
  return found?.toLowerCase() === expected.toLowerCase()
}
