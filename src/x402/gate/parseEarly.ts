import { checkLimit } from '../../core/checkLimit.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { type OrdersContext, parseAnswerAt } from '../../orders/engine.js'
import type { X402ChannelOffer, X402Offer } from './offers.js'
import type { SettledOffer } from './types.js'

/**
 * Returns the limits for answers to pre-confirmed payments. Returns `undefined`
 * if the offer has none.
 */
export function parseEarly(
  { policy }: OrdersContext,
  name: string,
  offer: X402Offer | X402ChannelOffer,
): SettledOffer['early'] {
  const field = `offers.${name}.`
  const upTo = parseAnswerAt(offer, policy, field)
  const { mostAtRisk } = offer
  if (mostAtRisk !== undefined) checkLimit(`${field}mostAtRisk`, mostAtRisk)
  if (upTo !== undefined)
    return {
      upTo,
      name,
      most: mostAtRisk,
      as: offer.flow === 'upfront' ? 'working' : 'reserved',
    }
  if (mostAtRisk === undefined) return undefined
  throw new InvalidFieldError(
    `${field}mostAtRisk`,
    shown(mostAtRisk),
    "given only with answerAt 'preconfirmed'",
  )
}
