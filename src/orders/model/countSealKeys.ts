import { sealKeyOf } from '../../store/sealKeyOf.js'
import { loadAllAuthorizers } from '../../store/storedAuthorizers.js'
import type { Destination, StoreReader } from '../../store/types.js'

/**
 * Counts the encrypted secrets for each key name: those of these destinations,
 * and the shop's keys for claims of channels, those of callers of its facilitator
 * too.
 */
export async function countSealKeys(
  tables: Pick<StoreReader, 'secrets' | 'getValue'>,
  {
    destinations,
    shop,
  }: {
    destinations: readonly Destination[]
    shop: { name?: string | undefined }
  },
): Promise<Readonly<Record<string, number>>> {
  const counts = new Map(
    Object.entries(await tables.secrets.countKeys(destinations)),
  )
  for (const { sealed } of await loadAllAuthorizers(tables, shop)) {
    const name = sealKeyOf(sealed)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return Object.fromEntries(counts)
}
