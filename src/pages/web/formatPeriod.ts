const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** Such as `30 days`: in the largest unit of which it is a whole number. */
export function formatPeriod(seconds: number, language: string): string {
  const [unit, length] =
    units.find(([, size]) => seconds % size === 0) ?? (['second', 1] as const)
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
  }).format(seconds / length)
}
