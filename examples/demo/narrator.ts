import { formatAmount } from 'countersign'
import type { Balances, Narrator, Step } from './types.js'

const columns = { time: 6, actor: 8, step: 50, transaction: 11, gas: 7 }

/** Prints a timeline for people, with colours where somebody looks. */
export function createNarrator({
  print,
  colours,
}: {
  print(line: string): void
  colours: boolean
}): Narrator {
  const paint = (code: number) => (text: string) =>
    colours ? `\x1b[${code}m${text}\x1b[0m` : text
  const [bold, dim, red, green] = [paint(1), paint(2), paint(31), paint(32)]
  let stories = 0

  return {
    open({ amount, url, token, chainId }) {
      print(bold(`Orders of ${amount} USDC, from draft to settlement`))
      print(dim(`chain ${chainId} at ${url}, token ${token}`))
    },
    begin({ title }) {
      print('')
      print(bold(`${++stories}. ${title}`))
      const { time, actor, step, transaction, gas } = columns
      print(
        dim(
          `   ${'time'.padEnd(time)}  ${'actor'.padEnd(actor)}  ${'step'.padEnd(step)}  ${'transaction'.padEnd(transaction)}  ${'gas'.padStart(gas)}`,
        ),
      )
    },
    tell(step) {
      const line = stepLine(step)
      print(step.transaction?.reverted ? red(line) : line)
    },
    end({ asTold, problem, outcome, order, balances }) {
      print(
        dim(
          `\n${' '.repeat(12)}${'before'.padStart(14)}${'after'.padStart(14)}`,
        ),
      )
      for (const holder of ['payer', 'merchant', 'savings'] as const)
        print(balanceLine(holder, balances))
      print(
        asTold
          ? green(
              `   ✓ ends as told: ${outcome?.status} on chain, ${order?.state} on record`,
            )
          : red(`   ✗ ends otherwise: ${problem}`),
      )
    },
    close({ asTold, stories: played, seconds }) {
      const good = played.filter((story) => story.asTold).length
      const what = played.length === 1 ? 'story' : 'stories'
      const line = `${good} of ${played.length} ${what} ended as told, in ${seconds.toFixed(1)} s`
      print('')
      print(asTold ? green(line) : red(line))
    },
  }
}

function stepLine({ time, actor, step, transaction }: Step): string {
  const { hash, gasUsed, reverted } = transaction ?? {}
  const cells = [
    clock(time).padEnd(columns.time),
    actor.padEnd(columns.actor),
    step.padEnd(columns.step),
    (hash ? `${hash.slice(0, 6)}…${hash.slice(-4)}` : '').padEnd(
      columns.transaction,
    ),
    (gasUsed === undefined ? '' : group(String(gasUsed))).padStart(columns.gas),
    reverted ? 'reverted' : '',
  ]
  return `   ${cells.join('  ')}`.trimEnd()
}

function balanceLine(
  holder: keyof Balances,
  { before, after }: { before: Balances; after: Balances },
): string {
  const change = after[holder] - before[holder]
  const cells = [
    `   ${holder}`.padEnd(12),
    money(before[holder]).padStart(14),
    money(after[holder]).padStart(14),
    change === 0n ? '' : `   ${change > 0n ? '+' : '-'}${money(change)}`,
  ]
  return cells.join('').trimEnd()
}

/** Minutes and seconds. */
function clock(seconds: number): string {
  const digits = (value: number) => String(value).padStart(2, '0')
  return `+${digits(Math.floor(seconds / 60))}:${digits(seconds % 60)}`
}

/** USDC without its sign, at least two fraction digits. */
function money(units: bigint): string {
  const decimal = formatAmount(units < 0n ? -units : units)
  const [whole = '', fraction = ''] = decimal.split('.')
  return `${group(whole)}.${fraction.padEnd(2, '0')}`
}

function group(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',')
}
