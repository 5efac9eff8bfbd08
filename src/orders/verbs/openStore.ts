import { parseSignedPermission } from '../../batches/keys/permission.js'
import type { Destination, StoredValue } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import type { NewEvent } from '../model/changes.js'
import { rememberSubmitters } from '../model/knownSubmitters.js'
import type { OrderEvent } from '../model/orderEvents.js'
import { storeKey } from '../model/storeState.js'
import { isRegistered, registerShop } from './registerShop.js'

/**
 * Key of the stored value that names the database in which this recipient was
 * last opened. Another name shows that the database was replaced.
 */
const seenKey = ({ chainId, token, recipient }: Destination): string =>
  `${storeKey}:${chainId}:${token}:${recipient}`

/**
 * Opens the store. If its stored identity differs from that of the database,
 * the database is a copy or a restored backup and may lack newer data: nothing
 * is sent until someone calls `resume`. Reports this once for each recipient.
 *
 * Writes nothing to an attached store: a tool may open the same file through
 * another mount, with another identity, and must not suspend the workers.
 *
 * @throws {@link StoreError} when the store cannot be opened.
 * @throws {@link OrdersSetupError} when a recipient belongs to another shop.
 * @throws {@link InvalidFieldError} when a treasury did not sign a permission.
 */
export async function openStore(context: OrdersContext): Promise<void> {
  await checkPermissions(context)
  const { identity } = await context.store.open()
  const { isAttached } = context.store
  const { isKnown, values } = await context.store.read(async (tables) => ({
    isKnown: await isRegistered(context, tables),
    values: await tables.findValues(`${storeKey}:`),
  }))
  if (!isKnown && !isAttached) await registerShop(context)
  await context.shop.refresh()
  if (isAttached) return
  const seenIn = new Map(values.map(({ key, value }) => [key, value.identity]))
  await writeAgain(context, async (tables) => {
    const known = await tables.getValue(storeKey)
    const isReplaced = known !== undefined && known.identity !== identity
    if (known?.identity !== identity)
      await tables.setValue(storeKey, { identity, suspended: isReplaced })
    await rememberSubmitters(context, tables)
    const told = isReplaced
      ? context.destinations
      : context.destinations.filter(
          (destination) => seenIn.get(seenKey(destination)) !== identity,
        )
    for (const destination of told) {
      const key = seenKey(destination)
      // The instance that first opened the replaced database reported this only
      // for its own recipients. Another instance may report it for this
      // recipient right now, so read again whether it did.
      const isUntold = !isReplaced && seenIn.has(key)
      const seen = isUntold ? await tables.getValue(key) : known
      if (isUntold && seen?.identity === identity) continue
      await tables.setValue(key, { identity })
      if (isReplaced || isUntold)
        await tables.events.append([
          replacedEvent(destination, {
            at: context.now(),
            data: {
              identity,
              before: parseIdentity(seen),
            },
          }),
        ])
    }
  })
}

/** Checks who signed the permissions of capture keys. */
async function checkPermissions({ wallets }: OrdersContext): Promise<void> {
  for (const [index, { key }] of wallets.entries())
    if (key)
      await parseSignedPermission(key.permission, {
        chainId: key.chainId,
        field: `wallets[${index}].permission`,
      })
}

function replacedEvent(
  { chainId, token, recipient }: Destination,
  facts: Pick<OrderEvent<'storeReplaced'>, 'at' | 'data'>,
): NewEvent {
  return {
    chainId,
    token,
    recipient,
    orderId: undefined,
    sequence: 0,
    type: 'storeReplaced',
    ...facts,
  }
}

function parseIdentity(value: StoredValue | undefined): string | undefined {
  return typeof value?.identity === 'string' ? value.identity : undefined
}
