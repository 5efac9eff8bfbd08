import type { Hex } from 'viem'
import {
  type CaptureProof,
  matches,
  type ProofLog,
  type ProofReceipt,
  proofOf,
  same,
} from '../core/receiptProof.js'
import { topics } from '../core/tokenAbi.js'
import { word } from '../core/words.js'
import { checkoutAddress } from './checkoutContracts.js'
import type { CheckoutPayment } from './types.js'

/**
 * First topic of the event `Captured(bytes32,address,address,address,uint256)`.
 */
const capturedTopic: Hex =
  '0x6f0a61ce747b95108a1e1b45eabfabaf31226774ebabb4948d89f17aa6bf8944'

/**
 * Finds the proof of a capture in a receipt. The events must be in this order:
 * the token's `AuthorizationUsed(payer, nonce)`, its exact `Transfer`s of
 * ceiling, amount and rest, and the contract's `Captured` with that amount. If
 * the token moved less, for example because it takes a fee, there is no proof.
 */
export function proveCheckout(
  receipt: ProofReceipt,
  payment: CheckoutPayment,
): Omit<CaptureProof, 'finality'> | undefined {
  if (receipt.status !== 'success') return undefined
  const { message, domain, checkout } = payment
  const token = domain.verifyingContract
  const payer: Hex = `0x${word(message.from)}`
  const recipient: Hex = `0x${word(checkout.recipient)}`
  const contract: Hex = `0x${word(checkoutAddress)}`
  const { logs } = receipt
  const end = logs.findIndex(
    (log) =>
      same(log.address, checkoutAddress) &&
      matches(log, capturedTopic, message.nonce, payer, recipient) &&
      same(log.data.slice(0, 66), `0x${word(token)}`),
  )
  const start = logs.findIndex(
    (log) =>
      same(log.address, token) &&
      matches(log, topics.used, payer, message.nonce),
  )
  const data = logs[end]?.data
  if (start < 0 || end < start || data?.length !== 130) return undefined

  const amount = BigInt(`0x${data.slice(66)}`)
  const moved = logs
    .slice(start + 1, end)
    .filter(({ address }) => same(address, token))
  if (moved.some(({ topics: [topic] }) => same(topic, topics.used)))
    return undefined
  const transfers: readonly (readonly [Hex, Hex, bigint])[] = [
    [payer, contract, message.value],
    [contract, recipient, amount],
    [contract, payer, message.value - amount],
  ]
  const found = findInOrder(
    moved,
    transfers.slice(0, amount < message.value ? 3 : 2),
  )
  const paid = found?.[1]
  return paid && { ...proofOf(receipt, paid), amount }
}

/**
 * Finds these exact transfers in this order; returns `undefined` if one is
 * missing.
 */
function findInOrder(
  logs: readonly ProofLog[],
  transfers: readonly (readonly [Hex, Hex, bigint])[],
): readonly ProofLog[] | undefined {
  const found: ProofLog[] = []
  let from = 0
  for (const [payer, recipient, value] of transfers) {
    const at = logs.findIndex(
      (log, index) =>
        index >= from &&
        matches(log, topics.transfer, payer, recipient) &&
        same(log.data, `0x${word(value)}`),
    )
    const log = logs[at]
    if (!log) return undefined
    found.push(log)
    from = at + 1
  }
  return found
}
