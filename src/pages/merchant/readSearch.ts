import { decodePercent } from '../../core/decodePercent.js'
import { shortHex } from '../ui/format.js'
import type { BookOrder } from './applyEvent.js'
import type { OrderFilter } from './merchantApi.js'

/** The members of a filter that name one thing. */
export type SearchTarget = Pick<
  OrderFilter,
  'orderId' | 'payer' | 'recipient' | 'transaction'
>

const addressForm = /^0x[\da-f]{40}$/i
const bytes32Form = /^(0x)?[\da-f]{64}$/i

/**
 * Lists what a text that a merchant pasted can name, the likeliest first: an
 * order id, an address or a transaction hash, alone or in a link.
 *
 * @param known orders in which a shortened `0x1234…abcd` is looked up.
 */
export function readSearch(
  text: string,
  known: Iterable<BookOrder> = [],
): readonly SearchTarget[] {
  const word = wordOf(text)
  if (word.includes('…')) return [...findShort(word, known)]
  if (addressForm.test(word)) {
    const address = word.toLowerCase()
    return [{ payer: address }, { recipient: address }]
  }
  if (!bytes32Form.test(word)) return [{ orderId: word }]
  const isPrefixed = word.startsWith('0x')
  const transaction = `${isPrefixed ? '' : '0x'}${word}`.toLowerCase()
  // Ids that the shop draws are 64 digits without 0x.
  return isPrefixed
    ? [{ transaction }, { orderId: word }]
    : [{ orderId: word }, { transaction }]
}

/** True if a filter leaves out orders by a condition of the merchant. */
export function isSearch({ search, ...conditions }: OrderFilter): boolean {
  return Boolean(search) || isNarrowed(conditions)
}

/** True if a filter has a condition besides the text to find. */
export function isNarrowed({
  states,
  from,
  to,
  least,
  most,
}: OrderFilter): boolean {
  return [states, from, to, least, most].some((one) => one !== undefined)
}

/** Says by what a search found its orders. */
export function foundWords(target: SearchTarget): string {
  const { orderId, payer, recipient, transaction } = target
  if (orderId !== undefined) return 'Found by its order id.'
  if (transaction !== undefined)
    return `Found by transaction ${shortHex(transaction)}.`
  return payer === undefined
    ? `Paid to ${shortHex(recipient ?? '')}.`
    : `Paid from ${shortHex(payer)}.`
}

/** Returns the words for a search that found nothing. */
export function notFoundWords(text: string): string {
  const word = wordOf(text)
  if (word.includes('…'))
    return 'No order of this list has this id. Paste the whole of it.'
  if (addressForm.test(word))
    return 'No order was paid from this address, or to it.'
  if (bytes32Form.test(word)) return 'No order has this id or transaction.'
  if (/^0x[\da-f]*$/i.test(word))
    return `No order has this id. An address has 40 digits after 0x, a transaction hash 64; this has ${word.length - 2}.`
  return 'No order has this id.'
}

/** Takes the id out of a link to an order, a transaction or an address. */
function wordOf(text: string): string {
  const trimmed = text.trim()
  const [, linked] =
    /^https?:\/\/.*\/(?:orders|pay|tx|address)\/([^/?#]+)/.exec(trimmed) ?? []
  return decodePercent(linked ?? trimmed).replace(/^0X/, '0x')
}

function* findShort(
  word: string,
  known: Iterable<BookOrder>,
): Generator<SearchTarget> {
  for (const { id, payer, capture } of known) {
    if (shortHex(id) === word) yield { orderId: id }
    if (payer && shortHex(payer) === word) yield { payer }
    const hash = capture?.transactionHash
    if (hash && shortHex(hash) === word) yield { transaction: hash }
  }
}
