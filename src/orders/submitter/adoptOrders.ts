import { endOfTime } from '../../store/endOfTime.js'
import type { OrderRecord } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { findOrphans } from '../model/knownSubmitters.js'
import { sendersOf } from '../model/sendersOf.js'
import type { OrdersContext } from '../model/types.js'
import { type SubmitterState, submitterKey } from './submitterState.js'

/** Milliseconds between two looks for orders of removed wallets. */
const lookEvery = 10_000

/** Most orders to take at one look, so that other relayers get the rest. */
const most = 100

/**
 * Takes over the due orders of removed wallets if this submitter may send for their
 * recipients. Transactions in flight stay with the removed wallet; the chain
 * decides them.
 */
export async function adoptOrders(
  context: OrdersContext,
  submitter: SubmitterState,
): Promise<void> {
  const now = performance.now()
  if (now - submitter.adoptedAt < lookEvery) return
  submitter.adoptedAt = now
  const ids = await findAdoptable(context, submitter)
  if (ids.length === 0) return
  const { account, chainId } = submitter.wallet.submitter
  const adopted = await writeAgain(
    context,
    async (tables) => {
      const orders = await tables.orders.find({ ids })
      const moved = orders
        .filter((order) => order.submitter !== account && isAdoptable(order))
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
  { wallet: { submitter } }: SubmitterState,
): Promise<string[]> {
  const { chainId, account } = submitter
  const recipients = context.recipients.filter((recipient) =>
    sendersOf(context, { chainId, recipient }).some(
      (one) => one.submitter.account === account,
    ),
  )
  if (recipients.length === 0) return []
  return context.store.read(async (tables) => {
    const ids: string[] = []
    for (const orphan of await findOrphans(context, tables, chainId)) {
      // Another process still has that wallet.
      if (await tables.getLease(submitterKey(orphan))) continue
      // Orders that are due later have no wallet either.
      const due = { sendDue: orphan, recipients, until: endOfTime, limit: most }
      const orders = await tables.orders.find(due)
      ids.push(...orders.filter(isAdoptable).map(({ id }) => id))
    }
    return ids.slice(0, most)
  })
}

/** True when the order is due, not in flight, and anyone may submit it. */
function isAdoptable({
  sendDue,
  primaryType,
  requested,
  state,
}: OrderRecord): boolean {
  const isAnyones =
    primaryType === 'TransferWithAuthorization' || requested === 'cancel'
  const isWaiting = state === 'stored' || state === 'voided'
  return sendDue !== undefined && isAnyones && isWaiting
}
