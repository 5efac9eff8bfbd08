import { InvalidFieldError, shown } from '../core/errors.js'
import { germanOrderWords } from './words/de.js'
import { englishOrderWords } from './words/en.js'
import {
  type Decimal,
  formatDecimal,
  formatMoment,
  formatSpan,
} from './words/formats.js'
import type { OrderPoint, OrderWords } from './words/types.js'

type Integer = bigint | string

type RefundToDescribe = {
  state: string
  /** A decimal in whole tokens. */
  amount: string
  transaction?: { blockNumber: Integer } | null | undefined
  transfer?: { blockNumber: Integer } | undefined
}

/**
 * An order of `BuyerClient`, `MerchantClient` or `createOrders`. `state` is
 * enough for the words of a state alone.
 */
export type OrderToDescribe = {
  state: string
  amount?: string | undefined
  atMost?: string | undefined
  window?: { validBefore: Integer } | undefined
  validBefore?: Integer | undefined
  spendableUntil?: Integer | undefined
  transaction?: { finality: string } | null | undefined
  preconfirmed?: string | undefined
  capture?: { finality: string } | undefined
  requested?: string | undefined
  reason?: string | undefined
  needsReview?: boolean | undefined
  unexpected?: boolean | undefined
  overpaid?: boolean | undefined
  refunds?: readonly RefundToDescribe[] | undefined
}

/** Who reads the words, and what the order itself does not say. */
export type DescribeOrderParameters = {
  /** Who reads the words. */
  for: 'buyer' | 'merchant'
  /** The language, or your own words for each text. @default 'en' */
  language?: 'en' | 'de' | OrderWords | undefined
  /** Symbol of the token, written after amounts. @default none */
  symbol?: string | undefined
  /**
   * Whether the buyer signed, if you know it: the buyer's order does not say.
   * @default for a merchant's order, as the order says
   */
  signed?: boolean | undefined
  /** Unix seconds. @default the wall clock */
  now?: bigint | undefined
}

/** How an order stands, in words. Plain text: escape it for HTML. */
export type OrderDescription = {
  /** The state in a few words, such as `Paid`. */
  state: string
  /** What the state means. */
  detail: string
  /** What happens next, or what to do. */
  next?: string | undefined
  /** Until when the payment can be signed or captured. */
  deadline?:
    | {
        /** What the time is for, such as `Time left to sign`. */
        label: string
        /** The time left, such as `4 min 5 sec`, or when it ended. */
        text: string
        /** Unix seconds. */
        at: bigint
        isOver: boolean
      }
    | undefined
}

/**
 * Describes an order for its buyer or its merchant. Pure: asks nobody. A state,
 * reason or finality that it does not know, of a newer server, gets neutral
 * words. Shows no text of the order, only its amounts, exactly.
 *
 * @throws {@link InvalidFieldError} when `for` or `language` is unknown.
 *
 * @example
 * ```ts
 * import { type BuyerState, describeOrder } from 'countersign/client'
 *
 * export function sayOrder(order: BuyerState): string {
 *   const { state, detail } = describeOrder(order, { for: 'buyer' })
 *   return `${state}. ${detail}`
 * }
 * ```
 */
export function describeOrder(
  order: OrderToDescribe,
  parameters: DescribeOrderParameters,
): OrderDescription {
  const { for: role, signed = signedOf(order) } = parameters
  if (role !== 'buyer' && role !== 'merchant')
    throw new InvalidFieldError('for', shown(role), ['buyer', 'merchant'])
  const now = parameters.now ?? BigInt(Math.floor(Date.now() / 1000))
  const words = wordsOf(parameters.language)
  const refund = describedRefund(order, role)
  const point =
    refund?.point ??
    pointOf(order, { signed, isSent: parameters.signed === true })
  const { state, detail, next } = words[role][point]
  const deadline = deadlineOf(order, { point, role, words, now })
  const fill = (text: string): string =>
    refund ? fillRefund(text, refund.refunds, { ...parameters, words }) : text
  const because =
    role === 'merchant' && reasoned.includes(point)
      ? reasonOf(order, words)
      : undefined
  const step =
    (role === 'merchant' && stepOf(order, { point, words })) ||
    (deadline?.isOver ? '' : next)
  return {
    state: fill(state),
    detail: because ? `${detail} ${because}` : fill(detail),
    next: step || undefined,
    deadline,
  }
}

function wordsOf(language: DescribeOrderParameters['language'] = 'en') {
  if (language === 'en') return englishOrderWords
  if (language === 'de') return germanOrderWords
  if (typeof language === 'object' && language !== null) return language
  throw new InvalidFieldError('language', shown(language), [
    'en',
    'de',
    'an object of words',
  ])
}

/** Whether a merchant's order has a signature; a buyer's order does not say. */
function signedOf(order: OrderToDescribe): boolean | undefined {
  if (order.spendableUntil !== undefined) return true
  return order.validBefore === undefined ? undefined : false
}

const plainStates = ['stored', 'canceling', 'canceled', 'consumed'] as const
const finalities = ['included', 'safe', 'finalized'] as const

function pointOf(
  order: OrderToDescribe,
  { signed, isSent }: { signed: boolean | undefined; isSent: boolean },
): OrderPoint {
  const { state, atMost, transaction, preconfirmed, capture } = order
  switch (state) {
    case 'drafted':
      if (isSent) return 'signed'
      return atMost === undefined ? 'drafted' : 'draftedCeiling'
    case 'capturing':
      return transaction || preconfirmed ? 'preconfirmed' : 'capturing'
    case 'captured': {
      const finality = (capture ?? transaction)?.finality
      return finalities.find((known) => known === finality) ?? 'included'
    }
    case 'voided':
      return signed === false ? 'voidedUnsigned' : 'voided'
    case 'expired':
      if (signed === undefined) return 'expired'
      return signed ? 'expiredSigned' : 'expiredUnsigned'
    default:
      return plainStates.find((known) => known === state) ?? 'unknown'
  }
}

type RefundPoint = {
  point: OrderPoint
  /** The refunds whose sum is named. */
  refunds: readonly RefundToDescribe[]
}

/** What to say of the refunds, if that is what matters now. */
function describedRefund(
  { amount, refunds = [] }: OrderToDescribe,
  role: 'buyer' | 'merchant',
): RefundPoint | undefined {
  const inState = (...states: string[]): RefundToDescribe[] =>
    refunds.filter(({ state }) => states.includes(state))
  const onTheWay = inState('requested', 'sending')
  if (onTheWay.length > 0) return { point: 'refunding', refunds: onTheWay }
  const newest = refunds.at(-1)
  if (role === 'merchant' && newest?.state === 'failed')
    return { point: 'refundFailed', refunds: [newest] }
  const paid = inState('succeeded')
  if (paid.length === 0) return undefined
  const isFull =
    amount === undefined || isAtLeast(sumOf(paid), readDecimal(amount))
  return { point: isFull ? 'refunded' : 'partlyRefunded', refunds: paid }
}

function fillRefund(
  text: string,
  refunds: readonly RefundToDescribe[],
  { words, symbol }: { words: OrderWords; symbol?: string | undefined },
): string {
  const sum = sumOf(refunds)
  const amount = sum ? formatDecimal(sum, words.locale) : '?'
  const mark = symbol?.replace(/\p{C}/gu, '')
  const blocks = refunds.flatMap(({ transaction, transfer }) => {
    const block = readInteger((transaction ?? transfer)?.blockNumber)
    return block === undefined ? [] : [`${block}`]
  })
  const list = new Intl.ListFormat(words.locale, { type: 'conjunction' })
  const place = words.place[blocks.length > 1 ? 'several' : 'one']
  return text
    .replaceAll('{amount}', () => (mark ? `${amount} ${mark}` : amount))
    .replaceAll('{place}', () =>
      blocks.length > 0
        ? place.replace('{blocks}', () => list.format(blocks))
        : '',
    )
}

/** The points of which a reason can still be true. */
const reasoned: readonly OrderPoint[] = [
  'drafted',
  'stored',
  'voided',
  'expired',
  'expiredSigned',
  'consumed',
]

function reasonOf(
  { reason }: OrderToDescribe,
  { reasons, because }: OrderWords,
): string | undefined {
  if (reason === undefined) return undefined
  const known = pick(reasons, reason)
  return known && because.replace('{reason}', () => known)
}

/** What a merchant's order waits for. */
function stepOf(
  { unexpected, overpaid, needsReview, requested }: OrderToDescribe,
  { point, words }: { point: OrderPoint; words: OrderWords },
): string | undefined {
  const { urgent } = words
  if (unexpected) return urgent.unexpected
  if (overpaid) return urgent.overpaid
  if (needsReview) return urgent.needsReview
  if (requested === undefined || !pending.includes(point)) return undefined
  if (requested === 'capture' && point !== 'stored') return undefined
  return pick(words.requested, requested)
}

/** The points of which a request can still be true. */
const pending: readonly OrderPoint[] = [
  'stored',
  'capturing',
  'preconfirmed',
  'voided',
]

const deadlines: Readonly<
  Partial<Record<OrderPoint, 'sign' | 'capture' | 'signature'>>
> = {
  drafted: 'sign',
  draftedCeiling: 'sign',
  stored: 'capture',
  capturing: 'capture',
  voided: 'signature',
}

function deadlineOf(
  { window, validBefore, spendableUntil }: OrderToDescribe,
  {
    point,
    role,
    words,
    now,
  }: {
    point: OrderPoint
    role: 'buyer' | 'merchant'
    words: OrderWords
    now: bigint
  },
): OrderDescription['deadline'] {
  const kind = deadlines[point]
  const last = window?.validBefore ?? validBefore
  const at = readInteger(kind === 'signature' ? (spendableUntil ?? last) : last)
  if (!kind || at === undefined) return undefined
  // The end of a window is exclusive.
  const isOver = now >= at
  return {
    label: words.deadlines[role][isOver ? 'over' : kind],
    text: isOver
      ? formatMoment(at, words.locale)
      : formatSpan(at - now, words.locale),
    at,
    isOver,
  }
}

function pick(
  texts: Readonly<Record<string, string>>,
  name: string,
): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined
}

function readInteger(value: Integer | undefined): bigint | undefined {
  if (typeof value === 'bigint') return value
  return value !== undefined && /^\d{1,78}$/.test(value)
    ? BigInt(value)
    : undefined
}

function readDecimal(text: string): Decimal | undefined {
  const [, whole = '', fraction = ''] =
    /^(\d{1,78})(?:\.(\d{1,255}))?$/.exec(text) ?? []
  return whole
    ? { units: BigInt(whole + fraction), places: fraction.length }
    : undefined
}

function scale({ units, places }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - places)
}

function sumOf(refunds: readonly RefundToDescribe[]): Decimal | undefined {
  let sum: Decimal = { units: 0n, places: 0 }
  for (const { amount } of refunds) {
    const next = readDecimal(amount)
    if (!next) return undefined
    const places = Math.max(sum.places, next.places)
    sum = { units: scale(sum, places) + scale(next, places), places }
  }
  return sum
}

function isAtLeast(sum: Decimal | undefined, whole: Decimal | undefined) {
  if (!sum || !whole) return false
  const places = Math.max(sum.places, whole.places)
  return scale(sum, places) >= scale(whole, places)
}
