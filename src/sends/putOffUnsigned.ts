import type { LaneState } from '../lanes/laneState.js'
import { type Changes, noChanges, writeChanges } from '../ledger/changes.js'
import type { OrdersContext } from '../records/types.js'
import { writeAgain } from '../records/writeAgain.js'
import type { DueDraft } from './rehearseDue.js'

/** An order whose transaction was not signed. */
export type Unsigned = { draft: DueDraft; error: unknown }

/** Milliseconds of pause from which on an order failed several times in a row. */
const repeated = 400

/** What the failures of signing for an order are put aside as. */
export const signingOf = ({ file }: DueDraft): string => `sign:${file.order.id}`

/**
 * Puts aside orders whose transactions were not signed. One that fails again
 * and again becomes due later, ever more: it keeps no other from being signed.
 *
 * @returns those that are due still.
 */
export async function putOffUnsigned(
  context: OrdersContext,
  lane: LaneState,
  unsigned: readonly Unsigned[],
  {
    now,
    took,
  }: {
    /** Unix seconds of the chain. */
    now: bigint
    /** Milliseconds that were lost on them. */
    took: number
  },
): Promise<Unsigned[]> {
  if (unsigned.length === 0) return []
  const paused = unsigned.map((one) => ({
    one,
    pause: lane.aside.put(signingOf(one.draft), one.error),
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
      lane,
      late.map(({ one }) => one),
      dues,
    )
  return paused.filter(({ pause }) => pause < repeated).map(({ one }) => one)
}

async function postpone(
  context: OrdersContext,
  lane: LaneState,
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
        // What was written since is judged again.
        orders: orders
          .filter(({ id, version }) => versions.get(id) === version)
          .map((order) => ({ ...order, sendDue: dues.get(order.id) })),
      }
      await writeChanges(tables, changes)
    },
    { lease: lane.lease },
  )
}
