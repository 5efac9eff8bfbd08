import { postgresStore, sqliteStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'

/** The store at the address of a server, or in a file. */
export function storeAt(place: string): PaymentStore {
  return place.startsWith('postgres:')
    ? postgresStore({ connectionString: place })
    : sqliteStore({ file: place })
}
