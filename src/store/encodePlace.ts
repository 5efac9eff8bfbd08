import { SealError } from './errors.js'
import type { SealContext } from './types.js'

/**
 * Marks an absent part. A part that is present has its length at this position.
 */
const absent = 0xffffffff

/**
 * Encodes a version, a key name and a context as the additional data of the
 * cipher. The cipher then opens a sealed secret only with the same three.
 * Different parts never give the same bytes, because the length of each part
 * precedes it. Upper and lower case hex digits count as equal.
 *
 * @throws {@link SealError} when the id of the order, or the name of the shop, is
 * not well-formed text.
 */
export function encodePlace(
  version: string,
  keyName: string,
  context: SealContext,
): Uint8Array {
  // Do not change the order of the parts: secrets that are already stored would
  // no longer open.
  return encodeParts([version, keyName, ...partsOf(context)])
}

function partsOf(context: SealContext): string[] {
  if (context.kind === 'transaction') {
    const { kind, action, chainId, account, accountNonce, bump } = context
    const place = [chainId, accountNonce, bump].map(String)
    return [kind, action, account.toLowerCase(), ...place]
  }
  if (context.kind === 'voucher') {
    const { kind, channelId, maxClaimable } = context
    return [kind, channelId.toLowerCase(), String(maxClaimable)]
  }
  if (context.kind === 'authorizer') {
    const { kind, shop, account } = context
    if (!isWellFormed(shop))
      throw new SealError(
        'belongs to a shop whose name is not well-formed text',
      )
    return [kind, shop, account.toLowerCase()]
  }
  const { kind, orderId, attempt, chainId, token, payer, nonce } = context
  if (!isWellFormed(orderId))
    throw new SealError('belongs to an order whose id is not well-formed text')
  const words = [token, payer, nonce].map((word) => word.toLowerCase())
  return [kind, orderId, String(attempt), String(chainId), ...words]
}

/** True when UTF-8 can represent the text, so it has no lone surrogate. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}

/**
 * Encodes a list of texts as bytes. Two different lists never give the same
 * bytes.
 */
export function encodeParts(
  parts: readonly (string | undefined)[],
): Uint8Array {
  const encoder = new TextEncoder()
  const encoded = parts.map((part) =>
    part === undefined ? undefined : encoder.encode(part),
  )
  const length = encoded.reduce((sum, part) => sum + 4 + (part?.length ?? 0), 0)
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const part of encoded) {
    view.setUint32(at, part?.length ?? absent)
    if (part) bytes.set(part, at + 4)
    at += 4 + (part?.length ?? 0)
  }
  return bytes
}
