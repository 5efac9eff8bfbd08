import { writeAgain } from '../../store/writeAgain.js'
import { type Changes, noChanges, writeChanges } from '../model/changes.js'
import type { OrdersContext } from '../model/types.js'
import type { DueDraft } from './rehearseDue.js'
import type { SubmitterState } from './submitterState.js'

/** An order whose transaction was not signed. */
export type Unsigned = { draft: DueDraft; error: unknown }

/**
 * An order with a pause of so many milliseconds failed several times in a row.
 */
const repeated = 400

/** The name under which an order is put aside when its signer fails. */
export const signingOf = ({ file }: DueDraft): string => `sign:${file.order.id}`

/**
 * Puts aside orders whose transactions were not signed. One that fails
 * repeatedly becomes due later each time, so that it holds up no other.
 *
 * @returns those that are still due.
 */
export async function putOffUnsigned(
  context: OrdersContext,
  submitter: SubmitterState,
  unsigned: readonly Unsigned[],
  {
    now,
    took,
  }: {
    /** Unix seconds of the chain. */
    now: bigint
    /** Milliseconds that the failed signing took. */
    took: number
  },
): Promise<Unsigned[]> {
  if (unsigned.length === 0) return []
  const paused = unsigned.map((one) => ({
    one,
    pause: submitter.aside.put(signingOf(one.draft), one.error),
  }))
  const late = paused.filter(({ pause }) => pause >= repeated)
  const dues = new Map(
    late.map(({ one, pause }) => [
      one.draft.file.order.id,
      now + BigInt(Math.ceil(Math.max(pause, took) / 1000)),
    ]),
  )
  if (dues.size > 0)
    await postpone(
      context,
      submitter,
      late.map(({ one }) => one),
      dues,
    )
  return paused.filter(({ pause }) => pause < repeated).map(({ one }) => one)
}

async function postpone(
  context: OrdersContext,
  submitter: SubmitterState,
  late: readonly Unsigned[],
  dues: ReadonlyMap<string, bigint>,
): Promise<void> {
  const versions = new Map(
    late.map(({ draft: { file } }) => [file.order.id, file.order.version]),
  )
  await writeAgain(
    context,
    async (tables) => {
      const orders = await tables.orders.find({ ids: [...dues.keys()] })
      const changes: Changes = {
        ...noChanges(),
        // Skip orders that were changed since; they are judged again.
        orders: orders
          .filter(({ id, version }) => versions.get(id) === version)
          .map((order) => ({ ...order, sendDue: dues.get(order.id) })),
      }
      await writeChanges(tables, changes)
    },
    { lease: submitter.lease },
  )
}
