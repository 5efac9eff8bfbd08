import { InvalidFieldError } from '../../core/errors.js'
import { SealError, StoreError } from '../../store/errors.js'
import type { SealContext, Sealer, StoredValue } from '../../store/types.js'
import { findWrongMember, isChannelOf } from './channelForm.js'
import type { X402Channel } from './types.js'

/** Keys of the settings with channels begin with it. */
export const channelPrefix = 'x402Channel:'

/** A channel as it was read, and the stored value that it was read from. */
export type ReadChannel = {
  stored: StoredValue | undefined
  channel: X402Channel | undefined
}

/**
 * Decodes the stored value of a channel. A deleted channel is an empty value,
 * because settings cannot be removed.
 *
 * @param id in lower case.
 * @throws {@link StoreError} when the value is not a channel.
 * @throws {@link SealError} when its signature does not open.
 */
export async function decodeChannel(
  { sealer }: { sealer: Sealer | undefined },
  id: string,
  stored: StoredValue | undefined,
): Promise<ReadChannel> {
  if (!stored || isDeleted(stored)) return { stored, channel: undefined }
  if (!isChannelOf(stored, id))
    throw new StoreError(
      `has an invalid value: ${channelPrefix}${id}.${findWrongMember(stored, id)?.name}`,
    )
  const { signature } = stored
  if (!isSealed(signature)) return { stored, channel: { ...stored } }
  if (!sealer)
    throw new SealError(
      'is sealed, but channelStorage has no seal: pass the sealer with its key',
    )
  const opened = await sealer.open(signature, placeOf(stored))
  return { stored, channel: { ...stored, signature: opened } }
}

/**
 * Encodes a channel to store it. Keeps the sealed text of a signature that did
 * not change.
 *
 * @throws {@link InvalidFieldError} when a member is missing or malformed.
 */
export async function encodeChannel(
  { sealer }: { sealer: Sealer | undefined },
  id: string,
  { next, before }: { next: X402Channel; before: ReadChannel },
): Promise<StoredValue> {
  const wrong = findWrongMember(next, id)
  if (wrong)
    throw new InvalidFieldError(
      `channel.${wrong.name}`,
      Object(next)[wrong.name],
      wrong.rule,
    )
  const { signature } = next
  if (!hexadecimal.test(signature))
    throw new InvalidFieldError('channel.signature', signature, 'hexadecimal')
  if (!sealer || signature === '') return { ...next }
  const sealed =
    keptSeal(sealer, next, before) ??
    (await sealer.seal(signature, placeOf(next)))
  return { ...next, signature: sealed }
}

const hexadecimal = /^(0x[\da-f]*)?$/i

function keptSeal(
  { current }: Sealer,
  next: X402Channel,
  { stored, channel }: ReadChannel,
): string | undefined {
  const sealed: unknown = Object(stored).signature
  const isSame =
    channel?.signature === next.signature &&
    channel.signedMaxClaimable === next.signedMaxClaimable
  return isSame &&
    typeof sealed === 'string' &&
    sealed.startsWith(`${current} `)
    ? sealed
    : undefined
}

const isDeleted = (stored: StoredValue): boolean =>
  Object.keys(stored).length === 0

/** A sealed text has a space after the name of its key; a signature has none. */
const isSealed = (signature: string): boolean => signature.includes(' ')

function placeOf({ channelId, signedMaxClaimable }: X402Channel): SealContext {
  return {
    kind: 'voucher',
    channelId: channelId.toLowerCase() as `0x${string}`,
    maxClaimable: BigInt(signedMaxClaimable),
  }
}
