import type { PaymentRequired } from '@x402/core/types'
import { encodeHeader } from '../wire/headers.js'
import { channelScheme } from '../wire/requirements.js'
import { identifierName } from './identifier.js'

/**
 * Bytes that a URL may have: every offer must leave this much room in the
 * payment header.
 */
export const roomForAddress = 500

/**
 * Characters of a channel's payload with a deposit, and of the state of the
 * channel, which a client may repeat.
 */
const channelRoom = 2_300

const digits = (count: number): string => `0x${'0'.repeat(count)}`

/**
 * Length of the payment header that a client sends to accept the first of these
 * terms. The header repeats the resource, the terms and the extensions. Counts
 * the signature of a private key: for that of a smart wallet, `longestHeader` has
 * additional room.
 */
export function paymentLength({
  resource,
  accepts,
  extensions,
}: Pick<PaymentRequired, 'resource' | 'accepts' | 'extensions'>): number {
  const [accepted] = accepts
  if (accepted?.scheme === channelScheme)
    // No other part of the payload depends on the offer.
    return encodeHeader({ resource, accepted, extensions }).length + channelRoom
  const declared = Object(extensions?.[identifierName])
  const info = { ...declared.info, id: 'x'.repeat(128) }
  return encodeHeader({
    x402Version: 2,
    resource,
    accepted,
    payload: {
      signature: digits(130),
      authorization: {
        from: digits(40),
        to: digits(40),
        value: accepted?.amount,
        validAfter: '1000000000',
        validBefore: '1000000000',
        nonce: digits(64),
      },
    },
    extensions: { ...extensions, [identifierName]: { ...declared, info } },
  }).length
}
