import type { NodeFault } from '../../orders/engine.js'
import type { OrdersHealth } from '../../orders/index.js'
import {
  countOf,
  formatCoin,
  formatSeconds,
  formatToken,
} from '../terminal/formats.js'
import { withShop } from '../terminal/openShop.js'
import { shopOptions } from '../terminal/options.js'
import { createPrinter, type Printer } from '../terminal/print.js'
import type { Command, ExitCode } from '../terminal/types.js'
import { channelsOf, printChannelsHealth } from './channelReports.js'

export const healthCommand: Command = {
  name: 'health',
  summary: 'Shows how orders, submitters and chains stand.',
  positionals: '',
  mostPositionals: 0,
  options: shopOptions,
  details: [
    'Exits with 1 if the shop is suspended, something has a fault, or channels can lose what they owe, and with 3 if a node does not answer.',
    'Work that failed and will be tried again is a warning.',
  ],
  example: 'npx countersign health --json',
  run: async (input) => {
    const print = createPrinter(input.io)
    const { report, channels } = await withShop(input, async (shop) => ({
      report: await shop.orders.health(),
      channels: await channelsOf(shop)?.health(),
    }))
    if (input.flag('json')) print.json({ ...report, channels })
    else {
      printHealth(print, report)
      if (channels) printChannelsHealth(print, channels)
    }
    return codeOf(report) || (channels?.ok === false ? 1 : 0)
  },
}

/**
 * Faults that may not be the node's own, because the network between may be
 * down.
 */
const unreachable: readonly (NodeFault | undefined)[] = [
  'unreachable',
  'timedOut',
]

function codeOf({ chains, submitters, suspended }: OrdersHealth): ExitCode {
  const faults = [...chains, ...submitters].filter(({ fault }) => fault)
  if (faults.length === 0) return suspended ? 1 : 0
  const isAway = faults.every(({ faultKind }) =>
    unreachable.includes(faultKind),
  )
  return isAway && !suspended ? 3 : 1
}

function printHealth(print: Printer, report: OrdersHealth): void {
  const { chains, destinations, submitters, suspended, sealKeys } = report
  if (suspended)
    print.line(print.bad('suspended: nothing is sent until you call resume'))
  for (const { chainId, block, time, fault } of chains)
    print.line(
      fault
        ? `chain ${chainId}  ${print.bad(fault)}`
        : `chain ${chainId}  block ${block}${time === undefined ? '' : ` of ${formatSeconds(time)}`}  ${print.good('ok')}`,
    )
  for (const { chainId, token, recipient, ...one } of destinations) {
    const counts = Object.entries(one.counts).map(
      ([state, count]) => `${count} ${state}`,
    )
    print.line()
    print.line(
      `recipient ${recipient}, ${formatToken(chainId, token)} on chain ${chainId}`,
    )
    print.line(`  orders: ${counts.join(', ') || 'none'}`)
    print.line(
      one.reconciledTo === undefined
        ? '  not compared with the chain yet'
        : `  compared with the chain up to block ${one.reconciledTo}${one.lag === undefined ? '' : `, ${countOf(one.lag, 'block')} behind`}`,
    )
    printAside(print, one.putAside)
  }
  for (const { chainId, account, ...one } of submitters) {
    const { balance, openTransactions, nextNonce, lease, fault } = one
    const { feeTooHigh } = one
    print.line()
    print.line(`submitter ${account} on chain ${chainId}`)
    if (fault) print.line(`  ${print.bad(fault)}`)
    if (balance !== undefined) print.line(`  gas: ${formatCoin(balance)}`)
    print.line(
      `  ${countOf(openTransactions, 'transaction')} in flight, next account nonce ${nextNonce}`,
    )
    if (feeTooHigh > 0)
      print.line(
        `  ${print.warn(`${countOf(feeTooHigh, 'transaction')} would cost more than maxFee`)}`,
      )
    print.line(
      lease
        ? `  served by worker ${lease.owner}`
        : `  ${print.warn('no worker serves it')}`,
    )
    printAside(print, one.putAside)
  }
  const keys = Object.entries(sealKeys)
  print.line()
  print.line(
    `sealed secrets: ${keys.map(([key, count]) => `${count} by key ${JSON.stringify(key)}`).join(', ') || 'none'}`,
  )
}

function printAside(
  print: Printer,
  putAside: OrdersHealth['destinations'][number]['putAside'],
): void {
  for (const { what, reason, since } of putAside)
    print.line(
      `  ${print.warn(`failed, will be tried again: ${what}, ${reason}`)}, since ${formatSeconds(since / 1000n)}`,
    )
}
