import { formatAmount } from '../../core/amount.js'
import { describeToken } from '../../orders/engine.js'
import type { AuditReport, AuditSum, LedgerRow } from '../../orders/index.js'
import { countOf, formatSymbol } from '../terminal/formats.js'
import { type OpenedShop, withShop } from '../terminal/openShop.js'
import { parseNumberOption, shopOptions } from '../terminal/options.js'
import { createPrinter, type Printer } from '../terminal/print.js'
import { openProgress } from '../terminal/progress.js'
import type { Command } from '../terminal/types.js'
import { auditInParts } from './auditInParts.js'
import { channelsOf, printChannelsAudit } from './channelReports.js'

type Unit = Pick<LedgerRow, 'symbol' | 'decimals'>

export const auditCommand: Command = {
  name: 'audit',
  summary: 'Compares payments and channels on the chain with the database.',
  positionals: '',
  mostPositionals: 0,
  options: {
    ...shopOptions,
    from: {
      type: 'string',
      value: 'BLOCK',
      help: 'First block. Default: the one of the oldest order.',
    },
    to: {
      type: 'string',
      value: 'BLOCK',
      help: 'Last block. Default: the newest.',
    },
  },
  details: [
    'Exits with 1 if chain and record differ. A payment of the last ten seconds is a difference until a worker has recorded it, and so is what happened to a channel.',
  ],
  example: 'npx countersign audit --from 20000000',
  run: async (input) => {
    const print = createPrinter(input.io)
    const range = {
      fromBlock: parseNumberOption('from', input.text('from')),
      toBlock: parseNumberOption('to', input.text('to')),
    }
    const { report, channels, units } = await withShop(input, async (shop) => {
      const progress = openProgress(input.io)
      const report = await auditInParts(shop, range, progress.show).finally(
        progress.end,
      )
      const units = await loadUnits(shop, report)
      const { fromBlock } = range
      const channels = await channelsOf(shop)?.audit({ fromBlock })
      return { report, channels, units }
    })
    const ok = report.ok && channels?.ok !== false
    if (input.flag('json')) print.json({ ...report, ok, channels })
    else {
      printAudit(print, report, units)
      if (channels) printChannelsAudit(print, channels, units)
      print.line(
        ok
          ? print.good('Chain and record agree.')
          : print.bad('Chain and record differ.'),
      )
    }
    return ok ? 0 : 1
  },
}

/** Loads the symbol and decimals of the token of each destination. */
export const loadUnits = (
  { context }: OpenedShop,
  { destinations }: AuditReport,
): Promise<Unit[]> =>
  Promise.all(
    destinations.map(({ destination }) => describeToken(context, destination)),
  )

export function printAudit(
  print: Printer,
  { destinations }: AuditReport,
  units: readonly Unit[],
): void {
  for (const [at, one] of destinations.entries()) {
    const unit = units[at] ?? { symbol: 'units', decimals: 0 }
    const { chainId, token, recipient } = one.destination
    print.line(
      `recipient ${recipient} on chain ${chainId}, blocks ${one.fromBlock} to ${one.toBlock}`,
    )
    print.table([
      ['', 'transfers', formatSymbol(chainId, token)],
      rowOf('on the chain', one.chain, unit),
      rowOf('paid orders', one.captured, unit),
      rowOf('without an order', one.unmatched, unit),
      rowOf('refunded', one.refunded, unit),
    ])
    printDifferences(print, one.differences, unit)
    print.line()
  }
}

function rowOf(
  name: string,
  { count, value }: AuditSum,
  { decimals }: Unit,
): string[] {
  return [name, `${count}`, formatAmount(value, decimals)]
}

/**
 * Prints the differences between chain and database: transfers that only one of
 * them has, or that are not equal in both.
 */
export function printDifferences(
  print: Printer,
  differences: AuditReport['destinations'][number]['differences'],
  { decimals }: Unit,
): void {
  if (differences.length === 0) return
  const amountOf = (value: bigint | undefined) =>
    value === undefined ? 'missing' : formatAmount(value, decimals)
  print.line(print.bad(countOf(differences.length, 'difference')))
  print.table([
    ['block', 'on the chain', 'on record', 'order', 'transaction'],
    ...differences.map((one) => [
      `${one.blockNumber}`,
      amountOf(one.onChain),
      amountOf(one.onRecord),
      one.orderId ?? '-',
      one.transactionHash,
    ]),
  ])
}
