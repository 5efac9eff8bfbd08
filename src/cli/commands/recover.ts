import type { OrderEvent, OrderEventType, Orders } from '../../orders/index.js'
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
    'After a failover or a restored backup: compares, says what was lost, and resumes.',
  positionals: '',
  mostPositionals: 0,
  options: shopOptions,
  details: [
    'Start one worker first: it notices that the database was replaced. The command adds to the database what only the chain shows, and lists what was found since the replacement.',
    'It resumes the workers if chain and record then agree. If not, it exits with 1, and nothing is sent until you run countersign resume.',
  ],
  example: 'npx countersign recover',
  run: async (input) => {
    const print = createPrinter(input.io)
    const isJson = input.flag('json')
    return withShop(
      input,
      async (shop) => {
        const { suspended } = await shop.orders.health()
        await shop.orders.reconcile()
        const charges = await subscriptionsOf(shop)?.reconcile()
        const progress = openProgress(input.io)
        const audit = await auditInParts(shop, {}, progress.show).finally(
          progress.end,
        )
        const channels = await channelsOf(shop)?.audit()
        // Once workers send again, what they did stands beside what was found.
        const found = suspended
          ? await findSinceReplaced(shop.orders)
          : undefined
        const ok = audit.ok && channels?.ok !== false
        const resumed = ok && suspended
        if (resumed) await shop.orders.resume()
        if (isJson) {
          print.json({ ok, resumed, found, charges, audit, channels })
          return ok ? 0 : 1
        }
        const units = await loadUnits(shop, audit)
        printAudit(print, audit, units)
        if (channels) printChannelsAudit(print, channels, units)
        if (suspended) printFound(print, found)
        print.line(
          ok
            ? print.good(
                suspended
                  ? 'Chain and record agree. Resumed: workers send again.'
                  : 'Chain and record agree. The shop was not suspended.',
              )
            : print.bad('Chain and record differ. The shop stays as it was.'),
        )
        return ok ? 0 : 1
      },
      'write',
    )
  },
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
 * Events whose cursors a replaced database skips: no shop has so many since a
 * replacement, so that those after it are the ones to read.
 */
const skipped = 1_000_000_000n

/**
 * Finds what was put on record since the database was replaced: transactions, or
 * ids of orders. Returns `undefined` if no replacement is on record.
 */
async function findSinceReplaced(orders: Orders): Promise<Found | undefined> {
  const newest = await orders.events({ after: 'latest' })
  let after = newest.cursor > skipped ? newest.cursor - skipped : 0n
  let found: Found | undefined
  for (;;) {
    const { events, cursor } = await orders.events({ after, limit: 1_000 })
    for (const event of events) {
      if (event.type === 'storeReplaced') found ??= {}
      const name = nameOf(event)
      if (!found || !name) continue
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

function printFound(print: Printer, found: Found | undefined): void {
  if (!found) {
    print.line('No replacement of the database is on record.')
    return
  }
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
