import type { Address, Hex } from 'viem'
import {
  decodeTokenLog,
  type TokenEvent,
} from '../../chain/logs/decodeTokenLog.js'
import { formatAmount } from '../../core/amount.js'
import { knownTokens } from '../../core/knownTokens.js'
import { UsageError } from '../terminal/errors.js'
import type { Explanation } from './types.js'

/** An event of a token, and the contract that emitted it. */
type ShownEvent = TokenEvent & { token: Address }

/** What a transaction did with one payment nonce. */
type Effect =
  | {
      effect: 'captured'
      token: Address
      payer: Address
      recipient: Address
      value: bigint
      nonce: Hex
    }
  /**
   * The payment nonce was used, but the payer's tokens were not transferred for
   * it.
   */
  | { effect: 'consumed'; token: Address; payer: Address; nonce: Hex }
  | { effect: 'canceled'; token: Address; payer: Address; nonce: Hex }

/** Explains a receipt, in the JSON of a node or of a tool such as cast. */
export function explainReceipt(receipt: unknown): Explanation {
  const { status, transactionHash, blockNumber } = Object(receipt)
  const isReverted = ['reverted', '0x0', 0].includes(status)
  const events = eventsOf(receipt)
  const effects = isReverted ? [] : effectsOf(events)
  const hash = /^0x[\da-f]{64}$/i.test(String(transactionHash))
    ? String(transactionHash)
    : undefined
  const block = /^(0x[\da-f]+|\d+)$/i.test(String(blockNumber))
    ? BigInt(String(blockNumber))
    : undefined
  return {
    facts: {
      kind: 'receipt',
      transactionHash: hash,
      blockNumber: block,
      status: isReverted ? 'reverted' : 'success',
      effects,
    },
    lines: [
      `transaction ${hash ?? 'without a hash'}${block === undefined ? '' : ` in block ${block}`}: ${isReverted ? 'reverted, nothing moved' : 'success'}`,
      ...effects.map(describeEffect),
      ...(effects.length === 0 && !isReverted
        ? ['It used no payment nonce of an EIP-3009 token.']
        : []),
    ],
    ok: !isReverted && effects.length > 0,
  }
}

function eventsOf(receipt: unknown): ShownEvent[] {
  const logs: readonly unknown[] = Object(receipt).logs
  return logs.flatMap((log) => {
    const { address, topics, data } = Object(log)
    if (
      !/^0x[\da-f]{40}$/i.test(String(address)) ||
      !Array.isArray(topics) ||
      typeof data !== 'string'
    )
      throw new UsageError('The receipt has a malformed log.')
    const event = decodeTokenLog({ topics, data: data as Hex })
    return event ? [{ ...event, token: address.toLowerCase() as Address }] : []
  })
}

/**
 * Finds what a transaction did with each payment nonce. A payment counts as
 * captured if the token emits, between the event for its nonce and the next
 * such event, a transfer from the payer.
 */
function effectsOf(events: readonly ShownEvent[]): Effect[] {
  return events.flatMap((event, at): Effect[] => {
    if (event.name === 'Transfer') return []
    const { token, authorizer: payer, nonce } = event
    if (event.name === 'AuthorizationCanceled')
      return [{ effect: 'canceled', token, payer, nonce }]
    const later = events.slice(at + 1).filter((one) => one.token === token)
    const next = later.findIndex(({ name }) => name === 'AuthorizationUsed')
    const own = next < 0 ? later : later.slice(0, next)
    const moved = own.find(
      (one) => one.name === 'Transfer' && one.from === payer,
    )
    if (moved?.name !== 'Transfer')
      return [{ effect: 'consumed', token, payer, nonce }]
    const { to: recipient, value } = moved
    return [{ effect: 'captured', token, payer, recipient, value, nonce }]
  })
}

function describeEffect(effect: Effect): string {
  const { token, payer, nonce } = effect
  if (effect.effect === 'canceled')
    return `canceled: payment nonce ${nonce} of ${payer}, token ${token}`
  if (effect.effect === 'consumed')
    return `consumed: payment nonce ${nonce} of ${payer}, and no transfer of that payer follows, token ${token}`
  const { value, recipient } = effect
  const known = knownTokens.find(({ address }) => address === token)
  const amount = known
    ? `${formatAmount(value, known.decimals)} ${known.symbol}`
    : `${value} token units`
  return `captured: ${amount} from ${payer} to ${recipient}, payment nonce ${nonce}, token ${token}`
}
