import { type RawBuilder, sql } from 'kysely'
import { LeaseLostError } from '../store/errors.js'
import type { Lease, LeaseHolder, PaymentStore } from '../store/types.js'
import type { SqlDialect, SqlSession } from './tables/sqlEngine.js'

/** Largest number of leases that one sweep deletes. */
const sweepSize = 1000

/**
 * If a lease ends more than this many milliseconds later than a new one would,
 * the database's clock was set back since. Others may take it, because its
 * owner may be dead.
 */
const setBackAfter = 600_000

/** Milliseconds after which a sweep deletes a lease that has run out. */
const sweepAfter = 86_400_000n

/** Takes a lease that is free or has run out, or prolongs the owner's own. */
export async function takeSqlLease(
  session: SqlSession,
  { clock, newFence, turn }: SqlDialect,
  { key, owner, milliseconds }: Parameters<PaymentStore['takeLease']>[0],
): Promise<Lease | undefined> {
  const now = sql.raw(clock)
  const until = sql`${now} + ${BigInt(milliseconds)}`
  const farAway = sql`${now} + ${BigInt(milliseconds + setBackAfter)}`
  // Prolonging is a separate statement, because only a new fence has to wait
  // for other writers.
  const prolong = sql<{ fence: bigint }>`
    update leases set expires = ${until}
    where key = ${key} and owner = ${owner} and expires > ${now}
    returning fence`
  const take = sql<{ fence: bigint }>`
    insert into leases (key, owner, fence, expires)
    select ${key}, ${owner}, ${sql.raw(newFence)}, ${until}
    ${turn(`lease ${key}`)} where true
    on conflict (key) do update set
      owner = excluded.owner,
      expires = excluded.expires,
      fence = case
        when leases.owner = excluded.owner and leases.expires > ${now}
          then leases.fence
        when leases.fence < excluded.fence then excluded.fence
        else leases.fence + 1
      end
    where leases.owner = excluded.owner
      or leases.expires <= ${now} or leases.expires > ${farAway}
    returning fence`
  const [mine] = (await prolong.execute(session)).rows
  const [given] = mine ? [mine] : (await take.execute(session)).rows
  return given && { key, owner, fence: BigInt(given.fence) }
}

/** Deletes a lease. No later lease gets its fence. */
export async function releaseSqlLease(
  session: SqlSession,
  dialect: SqlDialect,
  { key, owner, fence }: Lease,
): Promise<void> {
  const mine = sql`key = ${key} and owner = ${owner} and fence = ${fence}`
  await forgetLeases(session, dialect, mine)
}

/** Deletes some of the leases that ran out long ago. */
export async function sweepSqlLeases(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<void> {
  const isOver = sql`expires < ${sql.raw(dialect.clock)} - ${sweepAfter}`
  const skip = sql.raw(dialect.locksRows ? 'for update skip locked' : '')
  const some = sql`${isOver} and key in
    (select key from leases where ${isOver} limit ${sweepSize} ${skip})`
  await forgetLeases(session, dialect, some)
}

/**
 * Deletes leases. A former owner can no longer write, because no row has its
 * fence. `newFence` then returns only fences above all deleted ones.
 */
async function forgetLeases(
  session: SqlSession,
  { countsFences }: SqlDialect,
  which: RawBuilder<unknown>,
): Promise<void> {
  const gone = sql<{ fence: bigint }>`
    delete from leases where ${which} returning fence`
  const { rows } = await gone.execute(session)
  if (!countsFences || rows.length === 0) return
  const highest = rows.reduce(
    (most, { fence }) => (fence > most ? fence : most),
    0n,
  )
  await sql`insert into counters (name, last) values ('fences', ${highest})
    on conflict (name) do update set last = excluded.last
    where counters.last < excluded.last`.execute(session)
}

export async function loadSqlLease(
  session: SqlSession,
  { clock }: SqlDialect,
  key: string,
): Promise<LeaseHolder | undefined> {
  const [held] = await session
    .selectFrom('leases')
    .select(['owner', 'expires'])
    .where('key', '=', key)
    .where('expires', '>', sql.raw<bigint>(clock))
    .execute()
  return held && { owner: held.owner, until: BigInt(held.expires) }
}

/**
 * Checks a lease, and locks it until the end of the unit of work.
 *
 * @throws {@link LeaseLostError} when it was released or another owner holds
 * it.
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
