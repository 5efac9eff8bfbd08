import {
  type Channels,
  type ChannelsAuditReport,
  type ChannelsHealth,
  channelKindName,
  createChannels,
} from '../../channels/engine.js'
import { formatAmount } from '../../core/amount.js'
import type { LedgerRow } from '../../orders/index.js'
import { countOf, formatSeconds, formatToken } from '../terminal/formats.js'
import type { OpenedShop } from '../terminal/openShop.js'
import type { Printer } from '../terminal/print.js'

/** The channels of a shop; `undefined` if it does not have any. */
export function channelsOf({
  orders,
  context,
}: OpenedShop): Channels | undefined {
  return context.kinds.has(channelKindName)
    ? createChannels({ orders })
    : undefined
}

/** @param units of the tokens of the destinations, in the same sequence. */
export function printChannelsAudit(
  print: Printer,
  { destinations }: ChannelsAuditReport,
  units: readonly Pick<LedgerRow, 'decimals'>[],
): void {
  for (const [at, one] of destinations.entries()) {
    const { chainId, recipient, blockNumber, channels, differences } = one
    const amountOf = (value: bigint) =>
      formatAmount(value, units[at]?.decimals ?? 0)
    print.line(
      `channels of ${recipient} on chain ${chainId}, block ${blockNumber}: ${channels} on record, ${amountOf(one.claimed)} claimed`,
    )
    if (one.unsettled > 0n)
      print.line(print.warn(`${amountOf(one.unsettled)} claimed and not paid`))
    if (one.searchedFrom === undefined)
      print.line(
        print.warn('channels not on record: the node gives no logs to search'),
      )
    if (one.unknown.length > 0)
      print.line(
        print.warn(`${countOf(one.unknown.length, 'channel')} not on record`),
      )
    if (differences.length > 0) {
      print.line(print.bad(countOf(differences.length, 'difference')))
      print.table([
        ['channel', 'value', 'on the chain', 'on record'],
        ...differences.map(({ channelId, field, onChain, onRecord }) => [
          channelId,
          field,
          `${onChain}`,
          `${onRecord}`,
        ]),
      ])
    }
    print.line()
  }
}

export function printChannelsHealth(
  print: Printer,
  { destinations }: ChannelsHealth,
): void {
  for (const one of destinations) {
    const { chainId, token, recipient, withdrawal, uncovered } = one
    print.line()
    print.line(
      `channels of ${recipient}, ${formatToken(chainId, token)} on chain ${chainId}`,
    )
    print.line(
      `  ${one.channels} with a deposit; base units not claimed: ${one.unclaimed}`,
    )
    if (one.openingSince !== undefined)
      print.line(
        `  ${countOf(one.opening, 'deposit')} not credited, since ${formatSeconds(one.openingSince)}`,
      )
    if (withdrawal)
      print.line(
        `  ${print.bad(`channel ${withdrawal.channelId} owes ${withdrawal.unclaimed}, and its payer can withdraw from ${formatSeconds(withdrawal.finalizableAt)}: ${withdrawal.inTime ? 'its claim is on its way' : 'no claim is on its way'}`)}`,
      )
    if (uncovered.length > 0)
      print.line(
        `  ${print.bad(`${countOf(uncovered.length, 'channel')} with less than it owes`)}`,
      )
  }
}
