import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { chooseDestination, type OrdersContext } from '../../orders/engine.js'
import { checkAmount } from './checkAmount.js'
import { checkOneOf, parseTimeout } from './offerFields.js'
import type { X402ChannelOffer } from './offers.js'
import { parseEarly } from './parseEarly.js'
import type { SettledChannel, SettledOffer } from './types.js'

/** Bounds of the channel contract, in seconds. */
const shortestDelay = 900
const longestDelay = 2_592_000

/** A day: long enough for a worker that is down over night. */
const usualDelay = 86_400

/**
 * Checks an offer with the flow `channel`, and fills in defaults.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 */
export function parseChannelOffer(
  context: OrdersContext,
  name: string,
  offer: X402ChannelOffer,
  loadFlow: SettledChannel['loadFlow'] | undefined,
): SettledOffer {
  const field = `offers.${name}`
  checkMembers(
    offer,
    [
      'flow',
      'atMost',
      'deposit',
      'leastDeposit',
      'withdrawDelay',
      'mostUnclaimed',
      'answerAt',
      'preconfirmedUpTo',
      'mostAtRisk',
      'chainId',
      'token',
      'recipient',
      'maxTimeoutSeconds',
      'description',
      'mimeType',
      'stream',
    ],
    field,
  )
  if (!loadFlow)
    throw new InvalidFieldError(
      'channels',
      undefined,
      "what createChannels of countersign/channels returns, because an offer has the flow 'channel'",
    )
  const { atMost, deposit, leastDeposit, mostUnclaimed } = offer
  const { stream = false } = offer
  checkAmount(`${field}.atMost`, atMost)
  checkAmount(`${field}.deposit`, deposit)
  checkOneOf(`${field}.stream`, stream, [true, false])
  const limits = { deposit, leastDeposit, mostUnclaimed }
  for (const [name, amount] of Object.entries(limits)) {
    if (amount === undefined) continue
    checkAmount(`${field}.${name}`, amount)
    if (isLess(amount, atMost))
      throw new InvalidFieldError(
        `${field}.${name}`,
        shown(amount),
        `at least what one request can cost, '${atMost}'`,
      )
  }
  if (leastDeposit !== undefined && isLess(deposit, leastDeposit))
    throw new InvalidFieldError(
      `${field}.leastDeposit`,
      shown(leastDeposit),
      `at most the deposit that the offer asks for, '${deposit}'`,
    )
  return {
    name,
    amount: atMost,
    ...chooseDestination(context, {
      ...offer,
      primaryType: 'TransferWithAuthorization',
    }),
    flow: 'authorization',
    early: parseEarly(context, name, offer),
    maxTimeoutSeconds: parseTimeout(context, field, offer.maxTimeoutSeconds),
    description: offer.description,
    mimeType: offer.mimeType,
    identifier: 'optional',
    afterFailure: 'keep',
    repeatable: false,
    stream,
    channel: {
      deposit,
      leastDeposit,
      withdrawDelay: parseDelay(field, offer.withdrawDelay),
      mostUnclaimed,
      loadFlow,
    },
  }
}

/** Parses both with the same number of places, so that they can be compared. */
function isLess(one: string, other: string): boolean {
  const places = (amount: string) => amount.split('.')[1]?.length ?? 0
  const decimals = Math.max(places(one), places(other))
  const units = (amount: string) => checkAmount('', amount, decimals)
  return units(one) < units(other)
}

function parseDelay(field: string, delay = usualDelay): number {
  if (
    Number.isInteger(delay) &&
    delay >= shortestDelay &&
    delay <= longestDelay
  )
    return delay
  throw new InvalidFieldError(
    `${field}.withdrawDelay`,
    shown(delay),
    `seconds from ${shortestDelay} to ${longestDelay}`,
  )
}
