import { formatAmount } from 'countersign'
import type { Progress } from './captureAll.js'

/** A line of a table of balances, with what changed. */
export function writeBalance(
  holder: string,
  { before, after }: { before: bigint; after: bigint },
): string {
  const change = after - before
  const cells = [
    `   ${holder}`.padEnd(12),
    writeMoney(before).padStart(14),
    writeMoney(after).padStart(14),
    change === 0n ? '' : `   ${change > 0n ? '+' : '-'}${writeMoney(change)}`,
  ]
  return cells.join('').trimEnd()
}

export const balanceHeader = `${' '.repeat(12)}${'before'.padStart(14)}${'after'.padStart(14)}`

/** USDC without its sign, at least two fraction digits. */
export function writeMoney(units: bigint): string {
  const decimal = formatAmount(units < 0n ? -units : units)
  const [whole = '', fraction = ''] = decimal.split('.')
  return `${groupDigits(whole)}.${fraction.padEnd(2, '0')}`
}

export function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',')
}

/** How much is done: a line that grows in a terminal, plain lines elsewhere. */
export function drawProgress(
  { sent, captured, total }: Progress,
  isTerminal: boolean,
): string {
  // Sent is half of the way.
  const done = (sent + captured) / total / 2
  const share = `${Math.floor(done * 100)} %`.padStart(5)
  const width = String(total).length
  const [out, back] = [sent, captured].map((it) => String(it).padStart(width))
  const counts = `sent: ${out}  captured: ${back}`
  if (!isTerminal) return `   ${share}  ${counts}\n`
  const bar = '█'.repeat(Math.floor(done * 30)).padEnd(30, '░')
  // The cursor goes back to where the line begins, and to the next at the end.
  return `\r   ${bar} ${share}  ${counts}${done === 1 ? '\n' : ''}`
}

/** Colours, where somebody looks. */
export function choosePaints(colours: boolean) {
  const paint = (code: number) => (text: string) =>
    colours ? `\x1b[${code}m${text}\x1b[0m` : text
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32) }
}

/** A document for programs; amounts and gas as decimal strings. */
export function writeJson(value: object): string {
  const write = (_: string, member: unknown) =>
    typeof member === 'bigint' ? String(member) : member
  return JSON.stringify(value, write, 2)
}
