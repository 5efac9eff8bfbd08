import { sql } from 'kysely'
import { LeaseLostError } from '../store/errors.js'
import type { Lease, PaymentStore } from '../store/types.js'
import type { SqlDialect, SqlSession } from './sqlEngine.js'

/** Takes a lease that is free or has run out, or prolongs one's own. */
export async function takeSqlLease(
  session: SqlSession,
  { clock }: SqlDialect,
  { key, owner, milliseconds }: Parameters<PaymentStore['takeLease']>[0],
): Promise<Lease | undefined> {
  const now = sql.raw(clock)
  const until = sql`${now} + ${BigInt(milliseconds)}`
  // Apart from taking it, since only a new fence has to wait for who writes.
  const prolong = sql<{ fence: bigint }>`
    update leases set expires = ${until}
    where key = ${key} and owner = ${owner} and expires > ${now}
    returning fence`
  const take = sql<{ fence: bigint }>`
    insert into leases (key, owner, fence, expires)
    values (${key}, ${owner}, 1, ${until})
    on conflict (key) do update set
      owner = excluded.owner,
      expires = excluded.expires,
      fence = leases.fence + case
        when leases.owner = excluded.owner and leases.expires > ${now} then 0
        else 1
      end
    where leases.owner = excluded.owner or leases.expires <= ${now}
    returning fence`
  const [mine] = (await prolong.execute(session)).rows
  const [given] = mine ? [mine] : (await take.execute(session)).rows
  return given && { key, owner, fence: BigInt(given.fence) }
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
    .$if(locksRows, (query) => query.forKeyShare())
    .execute()
  if (found.length === 0) throw new LeaseLostError({ key })
}
