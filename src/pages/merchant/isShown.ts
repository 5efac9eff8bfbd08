import type { MerchantOrder } from '../../client/MerchantClient.js'
import type { OrderFilter } from './merchantApi.js'
import { readAmount } from './readAmount.js'

/** More places than any token has, so that amounts of all tokens compare. */
const places = 36

/**
 * True if an order matches the filter of the table. Does not compare the
 * transaction: only the server knows all transactions of an order.
 */
export function isShown(order: MerchantOrder, filter: OrderFilter): boolean {
  const { states, orderId, payer, recipient, from, to, least, most, has } =
    filter
  const created = Number(order.createdAt)
  const amount = readAmount(order.amount, places) ?? 0n
  return (
    (!states?.length || states.includes(order.state)) &&
    (orderId ?? order.id) === order.id &&
    (!payer || order.payer?.toLowerCase() === payer.toLowerCase()) &&
    (!recipient || order.recipient.toLowerCase() === recipient.toLowerCase()) &&
    created >= (from ?? created) &&
    created < (to ?? created + 1) &&
    amount >= unitsOf(least, amount) &&
    amount <= unitsOf(most, amount) &&
    (has !== 'refunds' || order.refunds.length > 0) &&
    (has !== 'ceiling' || order.atMost !== undefined)
  )
}

function unitsOf(text: string | undefined, otherwise: bigint): bigint {
  return (text ? readAmount(text, places) : undefined) ?? otherwise
}
