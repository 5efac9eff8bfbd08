import { stdout } from 'node:process'
import { formatAmount } from 'countersign'
import {
  decodeTokenLog,
  type LogEvent,
  type LogProgress,
  type ReadLog,
} from 'countersign/reads'

/** A bar in a terminal, plain lines elsewhere. */
export function showProgress(progress: LogProgress): void {
  stdout.write(drawProgress(progress, stdout.isTTY))
}

export function drawProgress(
  { done, total, logs }: LogProgress,
  isTerminal: boolean,
): string {
  const share = `${(done * 100n) / total} %`.padStart(5)
  const found = `payments: ${logs}`
  if (!isTerminal) return `${share} of ${total} blocks read, ${found}\n`
  const bar = '█'.repeat(Number((done * 30n) / total)).padEnd(30, '░')
  // The cursor goes back to where the line begins, and to the next at the end.
  return `\r${bar} ${share}  ${found}${done === total ? '\n' : ''}`
}

/** What all payments together come to. */
export function sumUp(logs: readonly ReadLog[]): string {
  const values = logs.map(amountOf)
  const sum = values.reduce((sum, value) => sum + value, 0n)
  return `${values.length} payments of ${formatAmount(sum)} USDC so far`
}

/** What happened to a payment, on one line. */
export function sayEvent(event: LogEvent): string {
  if (event.type === 'gap')
    return `blocks ${event.fromBlock} to ${event.toBlock} were read again`
  const { log, type } = event
  const amount = formatAmount(amountOf(log)).padStart(5)
  return `${amount} USDC  ${type.padEnd(12)}  block ${log.blockNumber}`
}

function amountOf(log: ReadLog): bigint {
  const event = decodeTokenLog(log)
  return event?.name === 'Transfer' ? event.value : 0n
}
