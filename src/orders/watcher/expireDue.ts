import type { Address } from 'viem'
import type { OrdersContext } from '../context/types.js'
import type { TaskName } from '../loop/putAside.js'
import { apply, rulesOf } from '../model/apply.js'
import type { Step } from '../model/collectChanges.js'
import { loadOrders } from '../model/loadOrders.js'
import { lookAgain } from '../model/settleOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { isOver, type Judged, judgeExpiry, payerOf } from './judgeExpiry.js'
import { settleTransfers } from './reconcileToken.js'
import { openApart } from './tryStep.js'
import type { SureHeads, TokenMemory, TokenWatch } from './watchState.js'
import { writeFindings } from './writeFindings.js'

const pageSize = 200

/** Chain seconds until a second check confirms that a draft was not paid. */
const unpaidAgain = 2n

/** Chain seconds after which we forget that one check found a draft unpaid. */
const forgetAfter = 3600n

export const expiryStep = 'expiry'

const draftsStep: TaskName = 'drafts'

/**
 * A poll of one token, with the `safe` and `finalized` blocks that two polls
 * have confirmed.
 */
type SureTokenWatch = TokenWatch & { sure: SureHeads }

/**
 * Asks the chain about every order that is due for a check. An order expires if
 * one block shows that its window has ended and its nonce is unused. If the
 * nonce was used, finds the transaction that used it. Also adds an event when a
 * deadline is near, which needs no answer of the node. If the node does not
 * answer, asks again later.
 *
 * Does not decide about transactions in flight: the submitter does.
 */
export async function expireDue(
  context: OrdersContext,
  watch: SureTokenWatch,
): Promise<void> {
  const { memory, tokenMemory, heads } = watch
  const { timestamp } = heads.latest
  const parts = openApart(watch, { step: expiryStep, time: timestamp })
  const asked = new Set<Address>()
  const read = new Set<Address>()
  let isAnswering = !parts.isWaiting(expiryStep)
  const again = timestamp + lookAgain
  // Each order on a page gets a later `lookDue` or none, so the loop ends.
  while (memory.due.orders) {
    const due = await loadLookDue(context, watch)
    if (!due.length) break
    // All decisions below depend on the newest block's time, so check that the
    // node really has this block.
    await heads.confirm()
    const unpaid = due.filter(
      (stored) => !payerOf(stored) && isOver(stored, timestamp),
    )
    const unread = recipientsOf(unpaid).filter((one) => !asked.has(one))
    if (unread.length > 0) {
      for (const one of unread) asked.add(one)
      for (const one of await readTransfers(context, watch, unread))
        read.add(one)
      continue
    }
    const dueWatch = { ...watch, parts, read }
    const judged = isAnswering
      ? await judgeExpiry(context, dueWatch, due).catch((error: unknown) => {
          parts.put(expiryStep, error, { due: again })
          return undefined
        })
      : undefined
    isAnswering = judged !== undefined
    await writePage(context, watch, judged ?? due.map(unjudged))
    if (due.length < pageSize) break
  }
  forgetUnpaid(tokenMemory, timestamp)
  parts.close()
}

const recipientsOf = (due: readonly StoredOrder[]): Address[] => [
  ...new Set(due.map(({ order }) => order.recipient)),
]

/**
 * Stores the transfers to recipients. Returns the recipients whose transfers
 * could be read.
 */
async function readTransfers(
  context: OrdersContext,
  watch: TokenWatch,
  recipients: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const { aside } = watch
  const destinations = watch.destinations.filter(({ recipient }) =>
    recipients.includes(recipient),
  )
  const read = await settleTransfers(
    context,
    { ...watch, destinations },
    (destination, error) => aside.at(destination).put(draftsStep, error),
  )
  for (const one of destinations)
    if (read.has(one.recipient)) aside.at(one).clear(draftsStep)
  return read
}

/**
 * The node did not answer about this order, so only set when to check it again.
 */
const unjudged = ({ order }: StoredOrder): Judged => ({
  order,
  evidence: undefined,
})

function forgetUnpaid({ unpaid }: TokenMemory, time: bigint): void {
  for (const [id, since] of unpaid)
    if (since + forgetAfter < time) unpaid.delete(id)
}

async function loadLookDue(
  { store }: OrdersContext,
  { destinations, heads }: TokenWatch,
): Promise<StoredOrder[]> {
  const until = heads.latest.timestamp
  const lookDue = { lookDue: destinations, until, limit: pageSize }
  const found = await store.read((tables) => loadOrders(tables, lookDue))
  return [...found.values()]
}

async function writePage(
  context: OrdersContext,
  watch: TokenWatch,
  judged: readonly Judged[],
): Promise<void> {
  const findings = judged.flatMap(({ order, evidence }) =>
    evidence ? [{ orderId: order.id, attempt: order.attempt, evidence }] : [],
  )
  const ids = judged.map(({ order }) => order.id)
  await writeFindings(context, watch, {
    findings,
    ids,
    addMore: async (collected) => {
      for (const id of ids) collected.apply(id, [lookAgainAt(context, watch)])
    },
  })
}

function lookAgainAt(
  context: OrdersContext,
  { heads: { latest }, tokenMemory: { unpaid } }: TokenWatch,
): Step {
  const { timestamp: time } = latest
  return (stored) => {
    // Two polls must find a draft unpaid, because a node may show a payment
    // late.
    const isUnpaid = unpaid.get(stored.order.id) === time
    const pause = isUnpaid ? unpaidAgain : lookAgain
    return apply(stored, { kind: 'look', time, pause }, rulesOf(context))
  }
}
