import type { Address, Hex } from 'viem'
import type { ProofReceipt } from '../../core/receiptProof.js'
import { topics } from '../../core/tokenAbi.js'
import { word } from '../../core/words.js'

/** Recipient and amount of the transfer that used a payment nonce. */
export type NonceTransfer = { to: Address; value: bigint }

/**
 * Finds the transfer that used a payment nonce, by the rule for captures: after
 * the log `AuthorizationUsed`, the first `Transfer` of the same account that
 * comes before the token's next `AuthorizationUsed`.
 */
export function transferOf(
  receipt: ProofReceipt,
  {
    token,
    authorizer,
    nonce,
  }: { token: Address; authorizer: Address; nonce: Hex },
): NonceTransfer | undefined {
  if (receipt.status !== 'success') return undefined
  const from = `0x${word(authorizer)}`
  const logs = receipt.logs.filter(({ address }) => same(address, token))
  const used = logs.findIndex(
    (log) =>
      same(log.topics[0], topics.used) &&
      same(log.topics[1], from) &&
      same(log.topics[2], nonce),
  )
  if (used < 0) return undefined
  for (const log of logs.slice(used + 1)) {
    const [name, sender, to] = log.topics
    if (same(name, topics.used)) return undefined
    if (same(name, topics.transfer) && same(sender, from) && to)
      return {
        to: `0x${to.slice(-40).toLowerCase()}`,
        value: BigInt(log.data),
      }
  }
  return undefined
}

/** Compares hex without regard to letter case, because nodes differ in it. */
function same(found: string | undefined, expected: string): boolean {
  return found?.toLowerCase() === expected.toLowerCase()
}
