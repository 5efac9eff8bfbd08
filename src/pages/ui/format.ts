/**
 * Formats `1234567.5` as `1,234,567.50`: at least two decimals, without
 * rounding.
 */
export function groupAmount(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')
  return `${grouped}.${fraction.padEnd(2, '0')}`
}

/**
 * Cuts an amount to four significant digits, without rounding. Keeps all digits
 * before the point, and two after it.
 */
export function shortAmount(amount: string): string {
  const [whole = '', fraction = ''] = amount.split('.')
  const digits = whole.replace(/^-?0?/, '').length
  const zeros = digits > 0 ? -digits : fraction.search(/[1-9]/)
  const places = Math.max(2, 4 + zeros)
  return fraction ? `${whole}.${fraction.slice(0, places)}` : whole
}

/** Shortens hex to `0x1234…abcd`. */
export function shortHex(hex: string): string {
  return hex.length > 13 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex
}

/** Formats seconds in at most two units, such as `4 min 05 s`. */
export function spanWords(seconds: number): string {
  const pad = (value: number) => String(value).padStart(2, '0')
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${pad(seconds % 60)} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${pad(minutes % 60)} min`
  return `${Math.floor(hours / 24)} days`
}

/** Formats how long ago something was, such as `just now`. */
export function formatAgo(seconds: number): string {
  if (seconds < 5) return 'just now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} days ago`
}
