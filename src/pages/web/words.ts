import type { BuyerState } from '../../client/BuyerClient.js'
import type { Format } from './format.js'
import type { PageFailure, PageToken, ShopData } from './pageData.js'

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
