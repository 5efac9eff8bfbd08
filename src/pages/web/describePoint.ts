import type { BuyerState } from '../../client/BuyerClient.js'
import { formatAmount, parseAmount } from '../../core/amount.js'
import type { Format } from './format.js'
import { type Model, type PagePoint, pointOf, timeOf } from './model.js'
import { money, type Words } from './words.js'

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
