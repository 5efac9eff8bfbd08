import type { StoreReader } from '../../store/types.js'

/** Key of the setting that identifies this database. */
export const storeKey = 'store'

/** The identity of the database that this store was last opened as. */
export async function loadIdentity(
  tables: Pick<StoreReader, 'getValue'>,
): Promise<string | undefined> {
  const identity = (await tables.getValue(storeKey))?.identity
  return typeof identity === 'string' ? identity : undefined
}
