import { describeToken } from '../../orders/engine.js'
import type { AuditReport, LedgerRow } from '../../orders/index.js'
import { countOf } from '../terminal/formats.js'
import { type OpenedShop, withShop } from '../terminal/openShop.js'
import { shopOptions } from '../terminal/options.js'
import { createPrinter } from '../terminal/print.js'
import type { Command } from '../terminal/types.js'
import { printDifferences } from './audit.js'

/**
 * What `orders.reconcile` would still change for one destination (chain, token
 * and recipient).
 */
type Pending = {
  audit: AuditReport['destinations'][number]
  reconciledTo: bigint | undefined
  lag: bigint | undefined
  unit: Pick<LedgerRow, 'symbol' | 'decimals'>
}

export const reconcileCommand: Command = {
  name: 'reconcile',
  summary: 'Shows which payments a reconciliation would add to the database.',
  positionals: '',
  mostPositionals: 0,
  options: shopOptions,
  details: [
    'Compares the blocks since the last reconciliation, and writes nothing: a running worker does that within seconds, or your program with orders.reconcile().',
    'Exits with 1 if something is missing on record.',
  ],
  example: 'npx countersign reconcile',
  run: async (input) => {
    const print = createPrinter(input.io)
    const pending = await withShop(input, findPending)
    const isAhead = pending.every(({ audit }) => audit.differences.length === 0)
    if (input.flag('json')) {
      print.json({
        ok: isAhead,
        destinations: pending.map(({ audit, reconciledTo, lag }) => ({
          destination: audit.destination,
          reconciledTo,
          lag,
          missing: audit.differences,
        })),
      })
      return isAhead ? 0 : 1
    }
    for (const { audit, reconciledTo, lag, unit } of pending) {
      const { chainId, recipient } = audit.destination
      print.line(`recipient ${recipient} on chain ${chainId}`)
      print.line(
        reconciledTo === undefined
          ? '  not compared yet'
          : `  compared up to block ${reconciledTo}, ${countOf(lag ?? 0n, 'block')} behind`,
      )
      printDifferences(print, audit.differences, unit)
    }
    print.line(
      isAhead
        ? print.good('Nothing is missing on record.')
        : print.bad('A running worker adds these within seconds.'),
    )
    return isAhead ? 0 : 1
  },
}

async function findPending({
  orders,
  context,
}: OpenedShop): Promise<Pending[]> {
  const { destinations } = await orders.health()
  return Promise.all(
    destinations.map(async (destination) => {
      const { recipient, reconciledTo, lag } = destination
      const own = orders.within({ recipients: [recipient] })
      const fromBlock =
        reconciledTo === undefined ? undefined : reconciledTo + 1n
      const report = await own.audit({ fromBlock })
      const audit = report.destinations.find(
        (one) =>
          one.destination.chainId === destination.chainId &&
          one.destination.token === destination.token,
      )
      if (!audit) throw new Error('The audit left a destination out.')
      const unit = await describeToken(context, destination)
      return { audit, reconciledTo, lag, unit }
    }),
  )
}
