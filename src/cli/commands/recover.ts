import { loadSuspension } from '../../orders/engine.js'
import type { OrderEvent, OrderEventType, Orders } from '../../orders/index.js'
import { lostEvents } from '../../store/lostEvents.js'
import { spendPermissionName } from '../../subscriptions/charges/spendPermissions.js'
import { createSubscriptions } from '../../subscriptions/createSubscriptions.js'
import { countOf } from '../terminal/formats.js'
import { type OpenedShop, withShop } from '../terminal/openShop.js'
import { shopOptions } from '../terminal/options.js'
import { createPrinter, type Printer } from '../terminal/print.js'
import { openProgress } from '../terminal/progress.js'
import type { Command } from '../terminal/types.js'
import { loadUnits, printAudit } from './audit.js'
import { auditInParts } from './auditInParts.js'
import { channelsOf, printChannelsAudit } from './channelReports.js'

export const recoverCommand: Command = {
  name: 'recover',
  summary:
    'After a failover or a restored backup: compares database and chain, and resumes.',
  positionals: '',
  mostPositionals: 0,
  options: shopOptions,
  details: [
    'Start one worker first: it notices that the database was replaced, and stops all sending. This command then records what only the chain shows, and lists it.',
    'It lets workers send again if database and chain agree. If they differ, or if you had suspended the shop yourself, it exits with 1: run countersign resume once you have looked.',
  ],
  example: 'npx countersign recover',
  run: async (input) => {
    const print = createPrinter(input.io)
    const isJson = input.flag('json')
    return withShop(
      input,
      async (shop) => {
        const suspended = await shop.context.store.read(loadSuspension)
        const isReplaced = suspended === 'replaced'
        await shop.orders.reconcile()
        const charges = await subscriptionsOf(shop)?.reconcile()
        const progress = openProgress(input.io)
        const audit = await auditInParts(shop, {}, progress.show).finally(
          progress.end,
        )
        const channels = await channelsOf(shop)?.audit()
        // Before `resume`: new captures would be listed, too.
        const found = isReplaced
          ? await findSinceReplaced(shop.orders)
          : undefined
        const ok = audit.ok && channels?.ok !== false
        const resumed = ok && isReplaced
        if (resumed) await shop.orders.resume()
        const code = ok && suspended !== 'merchant' ? 0 : 1
        if (isJson) {
          print.json({
            ok,
            suspended,
            resumed,
            found,
            charges,
            audit,
            channels,
          })
          return code
        }
        const units = await loadUnits(shop, audit)
        printAudit(print, audit, units)
        if (channels) printChannelsAudit(print, channels, units)
        if (found) printFound(print, found)
        if (!ok) print.line(print.bad('Chain and record differ.'))
        else print.line(print.good('Chain and record agree.'))
        print.line(nextSteps[resumed ? 'resumed' : (suspended ?? 'none')])
        return code
      },
      'write',
    )
  },
}

const nextSteps = {
  resumed: 'Resumed: workers send again.',
  replaced: 'Nothing is sent until you run countersign resume.',
  merchant:
    'You suspended the shop: countersign resume lets workers send again.',
  none: 'The shop was not suspended.',
}

function subscriptionsOf({ orders, context }: OpenedShop) {
  return context.kinds.has(spendPermissionName)
    ? createSubscriptions({ orders })
    : undefined
}

/** Events of facts on the chain, and what each means after a replacement. */
const meanings = {
  captured: 'paid on the chain: the database has the order',
  unmatched: 'paid to you, and no order on record: its order may be lost',
  refunded: 'refunded on the chain',
  canceled: 'canceled on the chain',
  consumed: 'paid or canceled on the chain by something else',
  overpaid: 'paid a second time: refund it',
  refundDue: 'to be refunded',
} satisfies Partial<Record<OrderEventType, string>>

type Found = Partial<Record<keyof typeof meanings, string[]>>

/**
 * Lists the payments recorded since the database was replaced. Each is named by
 * the id of its order, or without one by the hash of its transaction.
 */
async function findSinceReplaced(orders: Orders): Promise<Found> {
  const newest = await orders.events({ after: 'latest' })
  // After all events of the database that was replaced.
  let after = newest.cursor > lostEvents ? newest.cursor - lostEvents : 0n
  const found: Found = {}
  for (;;) {
    const { events, cursor } = await orders.events({ after, limit: 1_000 })
    for (const event of events) {
      const name = nameOf(event)
      if (!name) continue
      const shown = found[name] ?? []
      shown.push(shownOf(event))
      found[name] = shown
    }
    if (events.length === 0) return found
    after = cursor
  }
}

const nameOf = ({ type }: OrderEvent): keyof Found | undefined =>
  type in meanings ? (type as keyof Found) : undefined

const shownOf = ({ orderId, data }: OrderEvent): string =>
  orderId ?? (('transactionHash' in data && data.transactionHash) || '')

function printFound(print: Printer, found: Found): void {
  print.line('Since the database was replaced:')
  const names = Object.keys(meanings) as (keyof Found)[]
  for (const name of names) {
    const shown = found[name] ?? []
    if (shown.length === 0) continue
    print.line(`  ${countOf(shown.length, 'payment')} ${meanings[name]}`)
    for (const one of shown.slice(0, mostShown)) print.line(`    ${one}`)
    if (shown.length > mostShown)
      print.line(`    and ${shown.length - mostShown} more: countersign events`)
  }
}

/** Most payments of one kind to list. */
const mostShown = 20
