import { addAll } from '../../core/addAll.js'
import { endOfTime } from '../../core/clock.js'
import type { OrderRecord, Submitter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { type SubmitterState, submitterKey } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { putAside } from '../loop/putAside.js'
import { findOrphans } from '../model/knownSubmitters.js'
import { paidBy, sendersOf, sendingOf } from '../model/sendersOf.js'
import { isSuspended } from '../model/storeState.js'
import { findKeyFault, recallKeyFault } from './findKeyFault.js'

/**
 * Most orders of other wallets to take over in one poll. Other submitters may
 * take the rest.
 */
const mostAdopted = 100

/**
 * Takes over due orders whose wallet was removed, or is a capture key that cannot
 * capture now, if this submitter may send for their recipients. Does nothing
 * while sending is suspended. Transactions in flight stay with the other wallet;
 * the chain decides them.
 */
export async function adoptOrders(
  context: OrdersContext,
  submitter: SubmitterState,
): Promise<void> {
  if (!submitter.orders.isTimeToAdopt()) return
  const ids = await findAdoptable(context, submitter)
  if (ids.length === 0) return
  const { account, chainId } = submitter.wallet.submitter
  const adopted = await writeAgain(
    context,
    async (tables) => {
      const orders = await tables.orders.find({ ids })
      const moved = orders
        .filter((order) => order.submitter !== account)
        .filter((order) => isAdoptable(submitter, order))
        .map((order) => ({ ...order, submitter: account }))
      if (moved.length > 0) await tables.orders.update(moved)
      return moved.length
    },
    { lease: submitter.lease },
  )
  context.observe({
    name: 'submitter.adopted',
    attributes: { chainId, account, orders: adopted },
  })
}

async function findAdoptable(
  context: OrdersContext,
  submitter: SubmitterState,
): Promise<string[]> {
  const { chainId, account } = submitter.wallet.submitter
  const recipients = context.recipients.filter((recipient) =>
    sendersOf(context, { chainId, recipient }).some(
      (one) => one.submitter.account === account,
    ),
  )
  if (recipients.length === 0) return []
  const stopped = await findStopped(context, submitter).catch(
    (error: unknown): Submitter[] => {
      putAside(submitter.aside, 'captureKeys', error)
      return []
    },
  )
  return context.store.read(async (tables) => {
    const ids: string[] = []
    const orphans = await findOrphans(context, tables, chainId)
    const others = [...orphans, ...stopped]
    if (others.length === 0 || (await isSuspended(tables))) return ids
    for (const orphan of others) {
      // Another process holds the lease of that account, so it still has the
      // wallet.
      const isHeld = await tables.getLease(submitterKey(orphan))
      if (isHeld && !stopped.includes(orphan)) continue
      // Include orders that are due later, because no wallet would send those
      // either.
      const due = {
        sendDue: orphan,
        recipients,
        until: endOfTime,
        limit: mostAdopted,
      }
      const orders = await tables.orders.find(due)
      addAll(
        ids,
        orders
          .filter((order) => isAdoptable(submitter, order))
          .map(({ id }) => id),
      )
    }
    return ids.slice(0, mostAdopted)
  })
}

/**
 * Finds the capture keys of the same treasury that cannot capture now, if this
 * wallet can.
 */
async function findStopped(
  context: OrdersContext,
  { wallet, reader, aside }: SubmitterState,
): Promise<Submitter[]> {
  const { chainId } = wallet.submitter
  const others = context.wallets.flatMap(({ submitter, key }) =>
    key &&
    key !== wallet.key &&
    submitter.chainId === chainId &&
    key.treasury === paidBy(wallet)
      ? [{ submitter, key }]
      : [],
  )
  if (others.length === 0) return []
  if (wallet.key && (await findKeyFault(reader, wallet.key))) return []
  const faults = await Promise.all(
    others.map(({ key }) => findKeyFault(reader, key)),
  )
  aside.clear('captureKeys')
  return others.flatMap(({ submitter }, at) => (faults[at] ? [submitter] : []))
}

/**
 * True when the order is due and not in flight, and this wallet may submit its
 * payment.
 */
function isAdoptable({ wallet }: SubmitterState, order: OrderRecord): boolean {
  const { sendDue, requested, state } = order
  const sending = sendingOf(order)
  const isOurs =
    sending === 'transfer' ||
    requested === 'cancel' ||
    (sending === 'receive' &&
      paidBy(wallet) === order.recipient &&
      !(wallet.key && recallKeyFault(wallet.key)))
  const isWaiting = state === 'stored' || state === 'voided'
  return sendDue !== undefined && isOurs && isWaiting
}
