import { sql } from 'kysely'
import { LeaseLostError } from './errors.js'
import type { SqlDialect, SqlSession } from './sqlEngine.js'
import type { Lease, PaymentStore } from './types.js'

/** Takes a lease that is free or has run out, or prolongs one's own. */
export async function takeSqlLease(
  session: SqlSession,
  { clock }: SqlDialect,
  { key, owner, milliseconds }: Parameters<PaymentStore['takeLease']>[0],
): Promise<Lease | undefined> {
  const now = sql.raw(clock)
  const taken = sql<{ fence: bigint }>`
    insert into leases (key, owner, fence, expires)
    values (${key}, ${owner}, 1, ${now} + ${BigInt(milliseconds)})
    on conflict (key) do update set
      owner = excluded.owner,
      expires = excluded.expires,
      fence = leases.fence + case
        when leases.owner = excluded.owner and leases.expires > ${now} then 0
        else 1
      end
    where leases.owner = excluded.owner or leases.expires <= ${now}
    returning fence`
  const { rows } = await taken.execute(session)
  return rows[0] && { key, owner, fence: BigInt(rows[0].fence) }
}

/** Lets a lease run out at once; its fence is never given again. */
export async function releaseSqlLease(
  session: SqlSession,
  { key, owner, fence }: Lease,
): Promise<void> {
  await session
    .updateTable('leases')
    .set({ expires: 0n })
    .where('key', '=', key)
    .where('owner', '=', owner)
    .where('fence', '=', fence)
    .execute()
}

/**
 * Makes sure that nobody else takes the lease before the end of this unit of
 * work.
 *
 * @throws {@link LeaseLostError} when somebody has.
 */
export async function checkSqlLease(
  session: SqlSession,
  { locksRows }: SqlDialect,
  { key, owner, fence }: Lease,
): Promise<void> {
  const found = await session
    .selectFrom('leases')
    .select('fence')
    .where('key', '=', key)
    .where('owner', '=', owner)
    .where('fence', '=', fence)
    .$if(locksRows, (query) => query.forShare())
    .execute()
  if (found.length === 0) throw new LeaseLostError({ key })
}
