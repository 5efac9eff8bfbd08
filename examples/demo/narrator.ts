import {
  balanceHeader,
  choosePaints,
  groupDigits,
  writeBalance,
} from './format.js'
import type { Narrator, Step } from './types.js'

const columns = { time: 6, actor: 8, step: 50, transaction: 11, gas: 7 }

/** Prints a timeline for people, with colours where somebody looks. */
export function createNarrator({
  print,
  colours,
}: {
  print(line: string): void
  colours: boolean
}): Narrator {
  const { bold, dim, red, green } = choosePaints(colours)
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
      print(dim(`\n${balanceHeader}`))
      for (const holder of ['payer', 'merchant', 'savings'] as const)
        print(
          writeBalance(holder, {
            before: balances.before[holder],
            after: balances.after[holder],
          }),
        )
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
    (gasUsed === undefined ? '' : groupDigits(String(gasUsed))).padStart(
      columns.gas,
    ),
    reverted ? 'reverted' : '',
  ]
  return `   ${cells.join('  ')}`.trimEnd()
}

/** Minutes and seconds. */
function clock(seconds: number): string {
  const digits = (value: number) => String(value).padStart(2, '0')
  return `+${digits(Math.floor(seconds / 60))}:${digits(seconds % 60)}`
}
