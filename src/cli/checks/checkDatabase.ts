import { loadIdentity, type OrdersContext } from '../../orders/engine.js'
import { fail, ok, warn } from './findings.js'
import type { CheckFinding } from './types.js'

/**
 * Checks the tables, and reports which database this is and whether sending is
 * suspended.
 */
export async function checkDatabase({
  store,
}: OrdersContext): Promise<readonly CheckFinding[]> {
  const { identity } = await store.open()
  const { known, suspended } = await store.read(async (tables) => ({
    known: await loadIdentity(tables),
    suspended: Object(await tables.getValue('store')).suspended === true,
  }))
  const subject = 'database'
  return [
    ok(subject, 'has the tables of this release'),
    known === undefined || known === identity
      ? ok(subject, 'is the one that the servers opened')
      : warn(
          subject,
          'looks like another database than the one the servers opened',
          'After a restored backup: run reconcile, audit and resume. If it is the same file at another mount: do nothing.',
        ),
    suspended
      ? fail(
          subject,
          'is suspended: nothing is sent',
          'Find out why, then run countersign resume.',
        )
      : ok(subject, 'is not suspended'),
  ]
}
