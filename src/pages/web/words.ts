import type { BuyerState } from '../../client/BuyerClient.js'
import { formatAmount, parseAmount } from '../../core/amount.js'
import type { Format } from './format.js'
import { type Model, type PagePoint, pointOf, timeOf } from './model.js'
import type { PageFailure, PageToken, ShopData } from './pageData.js'

/** How an order stands, for its buyer. */
export function describePoint(
  model: Model,
  order: BuyerState,
  { format, data, token }: Words,
): { title: string; text: string } {
  const { say } = format
  const refunded = describeRefunds(order, { format, data, token })
  if (refunded) return refunded
  const point = pointOf(order, model.task)
  const isAgain = model.events.some(({ type }) => type === 'reauthorized')
  if (point === 'drafted' && isAgain)
    return { title: say('againTitle'), text: say('againText') }
  const title = say(`${point}Title`, { name: data.name })
  return { title, text: say(textOf(model, order, point)) }
}

/** Returns the text that explains a failure to the buyer. */
export function failureText(
  { reason, values }: PageFailure,
  order: PricedOrder | undefined,
  words: Words,
): { title: string; text: string } {
  const { say } = words.format
  const all = {
    network: networkName(words),
    amount: order ? totalOf(order, words) : '',
    ...values,
  }
  return { title: say(`${reason}Title`, all), text: say(`${reason}Text`, all) }
}

export type Words = {
  format: Format
  data: Pick<ShopData, 'name'>
  token: PageToken | undefined
}

function textOf(
  model: Model,
  { atMost }: BuyerState,
  point: PagePoint,
): Parameters<Format['say']>[0] {
  const wasSigned = timeOf(model, 'accepted') !== undefined
  if (point === 'drafted' && atMost !== undefined) return 'ceilingText'
  if (point === 'expired' && !wasSigned) return 'neverSignedText'
  if (point === 'voided' && !wasSigned) return 'closedText'
  return `${point}Text`
}

/** `undefined` if the buyer gets, and got, nothing back. */
function describeRefunds(
  { refunds }: BuyerState,
  words: Words,
): { title: string; text: string } | undefined {
  const { say } = words.format
  const onTheWay = refunds.filter(
    ({ state }) => state === 'requested' || state === 'sending',
  )
  if (onTheWay.length > 0) {
    const amount = sumOf(onTheWay, words)
    return {
      title: say('refundingTitle'),
      text: say('refundingText', { amount }),
    }
  }
  const paidBack = refunds.filter(({ state }) => state === 'succeeded')
  if (paidBack.length === 0) return undefined
  const amount = sumOf(paidBack, words)
  return {
    title: say('refundedTitle', { amount }),
    text: say('refundedText', { amount }),
  }
}

function sumOf(refunds: BuyerState['refunds'], words: Words): string {
  const decimals = words.token?.decimals ?? 6
  const sum = refunds.reduce(
    (total, { amount }) => total + parseAmount(amount, decimals),
    0n,
  )
  return money(formatAmount(sum, decimals), words)
}

/** Such as `12.50 USDC`; the two stay on one line. */
export function money(amount: string, { format, token }: Words): string {
  return `${format.amount(amount)}\u00a0${token?.symbol ?? ''}`
}

/** The part of an order that has its price. */
export type PricedOrder = Pick<BuyerState, 'amount' | 'atMost' | 'state'>

/** What the order costs, such as `up to 50.00 USDC`. */
export function totalOf(
  { amount, atMost, state }: PricedOrder,
  words: Words,
): string {
  const isOpen = atMost !== undefined && state !== 'captured'
  return isOpen
    ? words.format.say('upTo', { amount: money(atMost, words) })
    : money(amount, words)
}

export function networkName({ format, token }: Words): string {
  return (
    token?.chain ??
    format.say('chain', { chainId: String(token?.chainId ?? '') })
  )
}
