import { formatSigned } from '../../core/formatSigned.js'
import type { LedgerRow } from '../../orders/index.js'
import { toCsv, toHledger, toJsonLines } from '../../orders/index.js'
import { UsageError } from '../terminal/errors.js'
import { formatSeconds, formatSymbol } from '../terminal/formats.js'
import { hideSecrets } from '../terminal/hideSecrets.js'
import { withShop } from '../terminal/openShop.js'
import { parseTimeOption, shopOptions } from '../terminal/options.js'
import { createPrinter } from '../terminal/print.js'
import type { Command } from '../terminal/types.js'

const formats = { json: toJsonLines, csv: toCsv, hledger: toHledger }

export const ledgerCommand: Command = {
  name: 'ledger',
  summary: 'Writes the books: payments, refunds and gas.',
  positionals: '',
  mostPositionals: 0,
  options: {
    ...shopOptions,
    from: {
      type: 'string',
      value: 'TIME',
      help: 'Start of the rows, included, such as 2026-01-01. Default: the beginning.',
    },
    to: {
      type: 'string',
      value: 'TIME',
      help: 'End of the rows, not included, such as 2026-02-01. Default: no end.',
    },
    transfers: {
      type: 'boolean',
      help: 'Add all other transfers and the balances, from the chain.',
    },
    csv: { type: 'boolean', help: 'Write CSV.' },
    hledger: { type: 'boolean', help: 'Write a journal for hledger.' },
    json: { type: 'boolean', help: 'Write one JSON object a line.' },
  },
  details: ['Times are UTC.'],
  example: 'npx countersign ledger --from 2026-01-01 --csv > books.csv',
  run: async (input) => {
    const { io, flag, text } = input
    const chosen = (['json', 'csv', 'hledger'] as const).filter(flag)
    if (chosen.length > 1)
      throw new UsageError('Pass one of --json, --csv and --hledger.')
    const range = {
      from: parseTimeOption('from', text('from')),
      to: parseTimeOption('to', text('to')),
      transfers: flag('transfers'),
    }
    await withShop(input, async ({ orders }) => {
      const rows = orders.ledger(range)
      const [format] = chosen
      if (format) {
        for await (const part of formats[format](rows))
          io.stdout.write(hideSecrets(part))
        return
      }
      const print = createPrinter(io)
      for await (const row of rows) print.line(describeRow(row))
    })
    return 0
  },
}

function describeRow(row: LedgerRow): string {
  const { type, blockTime, balance, net, transactionHash } = row
  const { orderId, movementId } = row
  const { chainId, token, symbol } = row
  const amount = formatSigned(balance ?? net, row)
  return [
    formatSeconds(blockTime),
    type.padEnd(8),
    amount.padStart(24),
    (token === undefined ? symbol : formatSymbol(chainId, token)).padEnd(6),
    (orderId ?? movementId ?? '-').padEnd(16),
    transactionHash ?? '',
  ]
    .join('  ')
    .trimEnd()
}
