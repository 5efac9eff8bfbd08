import type { Hex } from 'viem'
import { hashText } from '../../core/hashText.js'

/**
 * Most movements that the same call may store, if each ends without effect. Each
 * lasts about an hour: a wallet without gas must not end them.
 */
const mostAttempts = 100

/** The ids of the claim with this content. The caller's name is part of it. */
export function claimIds(content: readonly unknown[]): string[] {
  return hashesOf(content).map((hash) => `claim+${hash}`)
}

/**
 * The ids of the refund with this content. Their number has 21 digits, so a
 * refund that the shop itself makes for this channel never has the same id.
 */
export function refundIds(
  channelId: Hex,
  content: readonly unknown[],
): string[] {
  return hashesOf(content).map(
    (hash) => `${channelId}-1${String(BigInt(`0x${hash}`)).padStart(20, '0')}`,
  )
}

function hashesOf(content: readonly unknown[]): string[] {
  return Array.from({ length: mostAttempts }, (_, attempt) =>
    hashText(JSON.stringify([...content, attempt].map(String))).slice(2, 18),
  )
}
