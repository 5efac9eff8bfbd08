import type { StoreReader } from '../../store/types.js'

/** Key of the stored value that identifies this database. */
export const storeKey = 'store'

/** True while the merchant or a restored backup has suspended all sending. */
export async function isSuspended(
  tables: Pick<StoreReader, 'getValue'>,
): Promise<boolean> {
  return (await tables.getValue(storeKey))?.suspended === true
}

/**
 * Loads the identity of the database in which the orders were last opened.
 * Another current identity shows that the database was replaced.
 */
export async function loadIdentity(
  tables: Pick<StoreReader, 'getValue'>,
): Promise<string | undefined> {
  const identity = (await tables.getValue(storeKey))?.identity
  return typeof identity === 'string' ? identity : undefined
}
