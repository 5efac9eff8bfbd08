import type { StoreReader } from '../../store/types.js'

/** Key of the stored value that identifies this database. */
export const storeKey = 'store'

type Values = Pick<StoreReader, 'getValue'>

/** True while the merchant or a restored backup has suspended all sending. */
export const isSuspended = async (tables: Values): Promise<boolean> =>
  (await loadSuspension(tables)) !== undefined

/**
 * Loads why nothing is sent: the merchant called `suspend`, or the database was
 * replaced. `undefined` while workers send.
 */
export async function loadSuspension(
  tables: Values,
): Promise<'merchant' | 'replaced' | undefined> {
  const value = await tables.getValue(storeKey)
  if (value?.suspended !== true) return undefined
  return value.suspendedBy === 'merchant' ? 'merchant' : 'replaced'
}

/**
 * Loads the identity of the database in which the orders were last opened.
 * Another current identity shows that the database was replaced.
 */
export async function loadIdentity(
  tables: Values,
): Promise<string | undefined> {
  const identity = (await tables.getValue(storeKey))?.identity
  return typeof identity === 'string' ? identity : undefined
}
