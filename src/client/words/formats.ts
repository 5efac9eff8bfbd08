/** A decimal without rounding: `units` of 10^-`places`. */
export type Decimal = { units: bigint; places: number }

/** `12.50`, `1,234.567891`: at least two places, nothing rounded. */
export function formatDecimal(
  { units, places }: Decimal,
  locale: string,
): string {
  // Digits by themselves: a number with a fraction would be rounded.
  const numbers = new Intl.NumberFormat(locale, { numberingSystem: 'latn' })
  const parts = numbers.formatToParts(1.5)
  const point = parts.find(({ type }) => type === 'decimal')?.value ?? '.'
  const digits = `${units}`.padStart(places + 1, '0')
  const split = digits.length - places
  const fraction = digits.slice(split).replace(/0+$/, '').padEnd(2, '0')
  return numbers.format(BigInt(digits.slice(0, split))) + point + fraction
}

/** Seconds of each unit, and from which span on it is the larger of two. */
const units = [
  { unit: 'day', seconds: 86_400n, from: 172_800n },
  { unit: 'hour', seconds: 3_600n, from: 3_600n },
  { unit: 'minute', seconds: 60n, from: 60n },
  { unit: 'second', seconds: 1n, from: 0n },
] as const

/** A span of seconds in at most two units, such as `4 min 5 sec`. */
export function formatSpan(span: bigint, locale: string): string {
  const format = (value: bigint, unit: string): string =>
    new Intl.NumberFormat(locale, {
      style: 'unit',
      unit,
      unitDisplay: 'short',
    }).format(value)
  const index = units.findIndex(({ from }) => span >= from)
  const large = units[index]
  if (!large) return format(span, 'second')
  const text = format(span / large.seconds, large.unit)
  const small = units[index + 1]
  // Hours beside days, and a unit of which nothing is left, say no more.
  const rest = small ? (span % large.seconds) / small.seconds : 0n
  return small && rest > 0n && large.unit !== 'day'
    ? `${text} ${format(rest, small.unit)}`
    : text
}

/** The last second that a date of JavaScript can be, in the year 275760. */
const lastSecond = 8_640_000_000_000n

/** Day and time of Unix seconds, in the reader's time zone. */
export function formatMoment(seconds: bigint, locale: string): string {
  if (seconds > lastSecond) return `${seconds}`
  const format = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
  })
  return format.format(Number(seconds) * 1000)
}
