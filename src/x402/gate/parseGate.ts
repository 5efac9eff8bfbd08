import type { PaymentRequirements } from '@x402/core/types'
import { checkMembers } from '../../core/checkMembers.js'
import { drawNonce } from '../../core/drawNonce.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { loadOnce } from '../../core/loadOnce.js'
import {
  chooseDestination,
  contextOf,
  type OrdersContext,
} from '../../orders/engine.js'
import { mostHeaderLength } from '../wire/headers.js'
import { channelRequirementsOf, requirementsOf } from '../wire/requirements.js'
import { describeOffer } from './answers.js'
import { checkChannels } from './channelDesk.js'
import { checkAmount } from './checkAmount.js'
import { keepAnswers } from './keepAnswers.js'
import { loadKnown } from './loadKnown.js'
import { checkOneOf, parseTimeout } from './offerFields.js'
import type { X402ChannelOffer, X402Offer } from './offers.js'
import { parseChannelOffer } from './parseChannelOffer.js'
import { parseEarly } from './parseEarly.js'
import { paymentLength, roomForAddress } from './paymentLength.js'
import type {
  GateContext,
  LoadChannelFlow,
  SettledChannel,
  SettledOffer,
  X402GateParameters,
} from './types.js'

/**
 * Checks the parameters of a gate, and fills in defaults.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 */
export function parseGate(
  parameters: X402GateParameters,
  load: LoadChannelFlow,
): GateContext {
  if (typeof parameters !== 'object' || !parameters)
    throw new InvalidFieldError('parameters', parameters, 'an object')
  checkMembers(parameters, [
    'orders',
    'channels',
    'offers',
    'resource',
    'mostOpen',
    'mostRequestBytes',
    'mostAnswerBytes',
    'timeout',
    'keepFor',
    'takeOverFrom',
    'paywall',
  ])
  const { orders, offers, resource = hrefOf, takeOverFrom } = parameters
  const { context, instance } = contextOf(orders)
  if (typeof resource !== 'function')
    throw new InvalidFieldError('resource', resource, 'a function')
  const { paywall = false } = parameters
  if (paywall !== false && typeof paywall !== 'function')
    throw new InvalidFieldError(
      'paywall',
      paywall,
      'false, or what createPaywall of countersign/pages returns',
    )
  const { channels } = parameters
  if (channels !== undefined) checkChannels(channels, context)
  const loadFlow = channels && loadOnce(() => load(channels))
  const named = Object.entries(Object(offers) as X402GateParameters['offers'])
  if (typeof offers !== 'object' || !offers)
    throw new InvalidFieldError('offers', offers, 'an object')
  if (named.length === 0)
    throw new InvalidFieldError('offers', shown(0), 'one or more')
  const mebibyte = 1_048_576
  const { keepFor = 86_400n } = parameters
  if (typeof keepFor !== 'bigint' || keepFor < 0n || keepFor > 2n ** 32n)
    throw new InvalidFieldError(
      'keepFor',
      shown(keepFor),
      'a bigint of seconds',
    )
  const count = (
    name: 'mostOpen' | 'mostRequestBytes' | 'mostAnswerBytes' | 'timeout',
    usual: number,
  ) => parseCount(name, parameters[name] ?? usual)
  return {
    orders,
    context,
    instance,
    offers: new Map(
      named.map(([name, offer]) => [
        name,
        parseOffer(context, name, offer, loadFlow),
      ]),
    ),
    resource,
    mostOpen: count('mostOpen', 16),
    mostRequestBytes: count('mostRequestBytes', mebibyte),
    mostAnswerBytes: count('mostAnswerBytes', mebibyte),
    timeout: count('timeout', 30_000),
    keepFor,
    takeOverFrom,
    paywall,
    serving: new Map(),
    owner: drawNonce().slice(2, 34),
    keepAnswer: keepAnswers({ context, instance }),
    loadKnown: loadKnown(context),
    working: new Map(),
    streams: new Set(),
    unstored: new Map(),
    unsure: new Set(),
  }
}

function parseOffer(
  context: OrdersContext,
  name: string,
  offer: X402Offer | X402ChannelOffer,
  loadFlow: SettledChannel['loadFlow'] | undefined,
): SettledOffer {
  const field = `offers.${name}`
  if (typeof offer !== 'object' || !offer)
    throw new InvalidFieldError(field, offer, 'an object')
  const settled =
    offer.flow === 'channel'
      ? parseChannelOffer(context, name, offer, loadFlow)
      : parseExactOffer(context, name, offer)
  checkLength(field, settled)
  return settled
}

function parseExactOffer(
  context: OrdersContext,
  name: string,
  offer: X402Offer,
): SettledOffer {
  const field = `offers.${name}`
  checkMembers(
    offer,
    [
      'amount',
      'chainId',
      'token',
      'recipient',
      'flow',
      'answerAt',
      'preconfirmedUpTo',
      'mostAtRisk',
      'maxTimeoutSeconds',
      'description',
      'mimeType',
      'identifier',
      'afterFailure',
      'repeatable',
      'stream',
    ],
    field,
  )
  const { amount, flow = 'authorization', identifier = 'optional' } = offer
  const { afterFailure = flow === 'upfront' ? 'giveUp' : 'keep' } = offer
  const { repeatable = false, stream = false } = offer
  checkAmount(`${field}.amount`, amount)
  checkOneOf(`${field}.flow`, flow, ['authorization', 'upfront', 'channel'])
  checkOneOf(`${field}.identifier`, identifier, ['optional', 'required'])
  checkOneOf(`${field}.afterFailure`, afterFailure, ['keep', 'giveUp'])
  checkOneOf(`${field}.repeatable`, repeatable, [true, false])
  checkOneOf(`${field}.stream`, stream, [true, false])
  if (stream && flow !== 'upfront')
    throw new InvalidFieldError(
      `${field}.stream`,
      shown(stream),
      "false unless flow is 'upfront', the only flow that can stream",
    )
  return {
    name,
    amount,
    ...chooseDestination(context, {
      ...offer,
      primaryType: 'TransferWithAuthorization',
    }),
    flow,
    early: parseEarly(context, name, offer),
    maxTimeoutSeconds: parseTimeout(context, field, offer.maxTimeoutSeconds),
    description: offer.description,
    mimeType: offer.mimeType,
    identifier,
    afterFailure,
    repeatable,
    stream,
    channel: undefined,
  }
}

/**
 * Checks that the texts of an offer are short enough. A payment repeats them in
 * a header, of which the gate reads a limited number of characters.
 */
function checkLength(field: string, offer: SettledOffer): void {
  const { description = '', mimeType = '' } = offer
  const length = paymentLength({
    ...describeOffer(
      { ...offer, isRequired: true },
      'x'.repeat(roomForAddress),
    ),
    accepts: [longestRequirements(offer)],
  })
  if (length <= mostHeaderLength) return
  const longer = mimeType.length > description.length
  throw new InvalidFieldError(
    `${field}.${longer ? 'mimeType' : 'description'}`,
    shown(length),
    `so short that the header of a payment has at most ${mostHeaderLength} characters`,
  )
}

function longestRequirements(offer: SettledOffer): PaymentRequirements {
  const terms = { ...offer, ...longestTerms(offer) }
  const { channel } = offer
  return channel
    ? channelRequirementsOf({
        ...terms,
        ...channel,
        receiverAuthorizer: offer.token,
        minDeposit: terms.value,
      })
    : requirementsOf(terms)
}

/**
 * Builds terms with the longest token name and version that are expected,
 * because the token itself is not read yet.
 */
const longestTerms = ({ chainId, token }: SettledOffer) => ({
  domain: {
    name: 'x'.repeat(64),
    version: 'x'.repeat(8),
    chainId,
    verifyingContract: token,
  },
  value: 10n ** 24n,
})

function parseCount(field: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0 && value < 2 ** 31) return value
  throw new InvalidFieldError(field, shown(value), 'a positive integer')
}

/**
 * Returns the URL of a request without its fragment. `/a#1` and `/a#2` are the
 * same resource, so the same payment must be valid for both.
 */
function hrefOf({ url }: Request): string {
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${search}`
}
