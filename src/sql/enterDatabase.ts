import { sql } from 'kysely'
import type { Finder } from './sqlOrders.js'
import { readValue } from './sqlReader.js'
import { replaceValue } from './sqlSettings.js'

/** Name of the setting that says which database this was last. */
const databaseKey = 'database'

/** More events than were ever lost with a database. */
const lostEvents = 1_000_000_000n

/**
 * Leaves out the cursors of a database that this one replaces: who has read
 * them already would skip what came under them again.
 */
export async function enterDatabase(
  finder: Finder,
  identity: string,
): Promise<void> {
  const text = JSON.stringify({ identity })
  const known = await readValue(finder, databaseKey)
  if (known === text) return
  const numRows = await replaceValue(finder, databaseKey, text, known)
  // Of several who come at once, one is the first.
  if (known === undefined || numRows !== 1n) return
  await sql`update counters set last = last + ${lostEvents}
    where name = 'events'`.execute(finder.session)
}
