import type { Progress } from './captureAll.js'
import {
  balanceHeader,
  choosePaints,
  drawProgress,
  groupDigits,
  writeBalance,
  writeMoney,
} from './format.js'
import type { LoadRun } from './load.js'

/** Tells an audience how a load goes. */
export type LoadNarrator = {
  open(
    run: Pick<LoadRun, 'amount' | 'count' | 'url' | 'chainId' | 'store'>,
  ): void
  sold(sold: { payers: readonly unknown[]; seconds: number }): void
  progress(progress: Progress): void
  close(run: LoadRun): void
}

/** Prints a load for people, with one line that grows in a terminal. */
export function narrateLoad({
  write,
  isTerminal,
  colours,
}: {
  write(text: string): void
  isTerminal: boolean
  colours: boolean
}): LoadNarrator {
  const { bold, dim, red, green } = choosePaints(colours)
  const print = (line = '') => write(`${line}\n`)
  let shown = ''

  return {
    open({ count, amount, url, chainId, store }) {
      const many = groupDigits(String(count))
      print(bold(`${many} orders of ${amount} USDC, captured on one account`))
      print(dim(`chain ${chainId} at ${url}, orders kept in ${store}`))
      print()
      print('   first they are drafted, signed and accepted')
    },
    sold({ payers, seconds }) {
      print(
        `   by ${payers.length} payers in ${seconds.toFixed(1)} s; from here on it is measured`,
      )
    },
    progress(progress) {
      const line = drawProgress(progress, isTerminal)
      if (line !== shown) write(line)
      shown = line
    },
    close({ asTold, problem, balances: { before, after }, audit, ...run }) {
      const { captured, seconds, perSecond, requests, blocks } = run
      print(
        `   ${groupDigits(String(captured))} captures in ${seconds.toFixed(2)} s: ${Math.floor(perSecond)} a second, ${requests} HTTP requests in all, ${blocks} ${blocks === 1 ? 'block' : 'blocks'}`,
      )
      print(dim(`\n${balanceHeader}`))
      for (const holder of ['payers', 'merchant'] as const) {
        const sums = { before: before[holder], after: after[holder] }
        print(writeBalance(holder, sums))
      }
      print()
      for (const [name, { count, value }] of [
        ['on chain', audit.chain],
        ['on record', audit.captured],
      ] as const)
        print(
          `   ${name.padEnd(10)}${String(count).padStart(6)} transfers of ${writeMoney(value)}`,
        )
      print(
        asTold
          ? green(
              '   ✓ each order captured once, chain and record agree to the unit',
            )
          : red(`   ✗ ends otherwise: ${problem}`),
      )
    },
  }
}
