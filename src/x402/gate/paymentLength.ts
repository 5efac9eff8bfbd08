import type { PaymentRequired } from '@x402/core/types'
import { encodeHeader } from '../wire/headers.js'
import { identifierName } from './identifier.js'

/** Longest address of a resource, in bytes, that each offer has room for. */
export const roomForAddress = 500

/**
 * Length of the header by which a client with a key accepts the first of the
 * terms: it repeats the resource, the terms and the extensions.
 */
export function paymentLength({
  resource,
  accepts,
  extensions,
}: Pick<PaymentRequired, 'resource' | 'accepts' | 'extensions'>): number {
  const [accepted] = accepts
  const digits = (count: number) => `0x${'0'.repeat(count)}`
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
