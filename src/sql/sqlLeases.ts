import { type RawBuilder, sql } from 'kysely'
import { LeaseLostError } from '../store/errors.js'
import type { Lease, LeaseHolder, PaymentStore } from '../store/types.js'
import { assertKnown, loadVersion } from './tables/migrations.js'
import type { SqlDialect, SqlSession } from './tables/sqlEngine.js'

/** Most expired leases that one call of `sweepSqlLeases` deletes. */
const sweepSize = 1000

/**
 * A lease that ends more than this many milliseconds later than a new one would
 * is taken for a mistake: somebody set the database's clock back after the
 * lease was taken. Another owner may then take the lease, because its owner may
 * be dead.
 */
const setBackAfter = 600_000

/**
 * Milliseconds after the end of a lease at which `sweepSqlLeases` may delete
 * its row.
 */
const sweepAfter = 86_400_000n

/**
 * Takes a lease that is free or has run out, or prolongs the lease if this
 * owner holds it.
 *
 * @param known the newest version of the tables that this release knows.
 * @throws {@link StoreError} when the tables are of a newer version.
 */
export async function takeSqlLease(
  session: SqlSession,
  { clock, newFence, turn }: SqlDialect,
  { key, owner, milliseconds }: Parameters<PaymentStore['takeLease']>[0],
  known: number,
): Promise<Lease | undefined> {
  const now = sql.raw(clock)
  const until = sql`${now} + ${BigInt(milliseconds)}`
  const farAway = sql`${now} + ${BigInt(milliseconds + setBackAfter)}`
  // A condition, because the statements may have no transaction around them.
  const isKnown = sql`not exists
    (select 1 from versions where version > ${BigInt(known)})`
  // First tries to prolong: a lease that is prolonged keeps its fence, so it
  // need not wait for other writers as a new fence must.
  const prolong = sql<{ fence: bigint }>`
    update leases set expires = ${until}
    where key = ${key} and owner = ${owner} and expires > ${now}
      and ${isKnown}
    returning fence`
  const take = sql<{ fence: bigint }>`
    insert into leases (key, owner, fence, expires)
    select ${key}, ${owner}, ${sql.raw(newFence)}, ${until}
    ${turn(`lease ${key}`)} where ${isKnown}
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
  if (!given) assertKnown(await loadVersion(session), known)
  return given && { key, owner, fence: BigInt(given.fence) }
}

/** Deletes a lease. A later lease with the same key gets a higher fence. */
export async function releaseSqlLease(
  session: SqlSession,
  dialect: SqlDialect,
  { key, owner, fence }: Lease,
): Promise<void> {
  const mine = sql`key = ${key} and owner = ${owner} and fence = ${fence}`
  await forgetLeases(session, dialect, mine)
}

/**
 * Deletes up to 1,000 leases that ran out more than a day ago, such as those of
 * killed processes.
 */
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
 * fence. Stores the highest deleted fence, so that new leases get higher ones.
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
 * Checks that a lease is still held, and locks it until the end of the
 * transaction, so that nobody else can take it before the commit.
 *
 * @throws {@link LeaseLostError} when the lease was released or another owner
 * holds it.
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
