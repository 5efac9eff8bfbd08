import { formatAmount, parseAmount } from 'countersign'
import type { BuyerOrder } from '../api/openBuyer.js'
import type { ShopConfig } from '../api/shop.js'
import { groupAmount } from '../ui/format.js'
import type { OrderWords } from './orderWords.js'

type Coin = Pick<ShopConfig, 'symbol' | 'decimals'>

/**
 * Says how the refunds of an order stand. `undefined` if the buyer gets, and
 * got, nothing back.
 */
export function refundWords(
  { refunds }: BuyerOrder,
  coin: Coin,
): OrderWords | undefined {
  const paidBack = refunds.filter(({ state }) => state === 'succeeded')
  const onTheWay = refunds.filter(
    ({ state }) => state === 'requested' || state === 'sending',
  )
  const refunded = sumOf(paidBack, coin)
  if (onTheWay.length > 0)
    return {
      title: 'Your refund is on its way',
      text: `The shop is paying ${sumOf(onTheWay, coin)} back to the account that paid.`,
    }
  if (paidBack.length === 0) return undefined
  const blocks = paidBack.flatMap(({ transaction }) =>
    transaction ? [transaction.blockNumber] : [],
  )
  const place = blocks.length > 1 ? 'blocks' : 'block'
  return {
    title: `Refunded ${refunded}`,
    text: `The shop paid ${refunded} back to the account that paid, in ${place} ${blocks.join(' and ')}.`,
  }
}

/** Formats the sum of some refunds, such as `12.50 USDC`. */
function sumOf(
  refunds: BuyerOrder['refunds'],
  { symbol, decimals }: Coin,
): string {
  const sum = refunds.reduce(
    (total, { amount }) => total + parseAmount(amount, decimals),
    0n,
  )
  return `${groupAmount(formatAmount(sum, decimals))} ${symbol}`
}
