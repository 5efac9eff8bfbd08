import type { PaymentWords } from '../words/types.js'
import type { ShopData } from './pageData.js'

/** How values look in the language of the page. */
export type Format<word extends string = keyof PaymentWords> = {
  /** `1234.5` as `1,234.50`: at least two decimals, nothing rounded. */
  amount(decimal: string): string
  /** A moment in Unix seconds. */
  time(seconds: number): string
  /** A text of the catalogue, its names in braces replaced. */
  say(word: word, values?: Readonly<Record<string, string>>): string
}

export function createFormat<word extends string>({
  language,
  words,
}: Pick<ShopData, 'language'> & {
  words: Readonly<Record<word, string>>
}): Format<word> {
  const number = new Intl.NumberFormat(language, { minimumFractionDigits: 1 })
  const point =
    number.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ??
    '.'
  const whole = new Intl.NumberFormat(language)
  const time = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'medium',
  })
  return {
    amount: (decimal) => {
      const [units = '0', fraction = ''] = decimal.split('.')
      // As `bigint`, because a number would be rounded.
      return whole.format(BigInt(units)) + point + fraction.padEnd(2, '0')
    },
    time: (seconds) => time.format(seconds * 1_000),
    say: (word, values = {}) =>
      words[word].replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all),
  }
}

/** A span of seconds such as `14:59`, or `2:03:59`. */
export function formatTimeLeft(seconds: number): string {
  const pad = (value: number) => String(value).padStart(2, '0')
  const hours = Math.floor(seconds / 3_600)
  const minutes = Math.floor(seconds / 60) % 60
  return hours > 0
    ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}`
    : `${minutes}:${pad(seconds % 60)}`
}

/** `0x1234…abcd`. */
export function shortenAddress(hex: string): string {
  return hex.length > 13 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex
}
