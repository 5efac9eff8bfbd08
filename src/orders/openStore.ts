import type { OrdersContext } from '../ledger/types.js'
import { writeAgain } from '../ledger/writeAgain.js'
import type { JsonObject } from '../store/types.js'

/** Name of the value that says which database this is. */
export const storeKey = 'store'

/**
 * Opens the store. A database that is not the one remembered in it is a copy or
 * a backup: what happened since is not in it, so nothing is sent until someone
 * says so by `resume`.
 *
 * @throws {@link StoreError} when the store cannot be opened.
 */
export async function openStore(context: OrdersContext): Promise<void> {
  const { identity } = await context.store.open()
  await writeAgain(context, async (tables) => {
    const known = await tables.getValue(storeKey)
    if (known?.identity === identity) return
    await tables.setValue(storeKey, nextState(identity, known))
    if (!known) return
    const at = context.now()
    await tables.events.append(
      context.scopes.map((scope) => ({
        ...scope,
        orderId: undefined,
        sequence: 0,
        type: 'storeReplaced',
        at,
        data: { identity, before: known.identity },
      })),
    )
  })
}

function nextState(
  identity: string,
  known: JsonObject | undefined,
): JsonObject {
  return { identity, suspended: known !== undefined }
}
