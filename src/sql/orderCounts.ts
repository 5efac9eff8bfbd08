import { type CompiledQuery, sql } from 'kysely'
import type { Address } from 'viem'
import { addAll } from '../core/addAll.js'
import {
  type DestinationIndex,
  indexDestinations,
} from '../store/isInDestinations.js'
import { isListed } from '../store/listedRoles.js'
import type { Destination, OrderCount, OrderState } from '../store/types.js'
import { type Finder, findOrders } from './sqlOrders.js'
import { beginsWith } from './tables/beginsWith.js'
import { type QueryPlace, runQuery, type Slot } from './tables/runQuery.js'
import type { SeenRows, VersionedRow } from './tables/seenRows.js'
import { orderTable } from './tables/sqlTables.js'

const states: Readonly<Record<OrderState, true>> = {
  drafted: true,
  stored: true,
  capturing: true,
  canceling: true,
  captured: true,
  voided: true,
  canceled: true,
  expired: true,
  consumed: true,
}

function counterName(order: Destination & { state: string }): string {
  const { chainId, token, recipient, state } = order
  return `orders ${chainId} ${token} ${recipient} ${state}`.toLowerCase()
}

function counterOf(row: object): string {
  return counterName({
    chainId: Reflect.get(row, 'chainId'),
    token: Reflect.get(row, 'token'),
    recipient: Reflect.get(row, 'recipient'),
    state: Reflect.get(row, 'state'),
  })
}

/**
 * Counts the orders of these destinations in each state. Reads stored counters,
 * because counting rows would take longer with each order.
 */
export async function countOrders(
  finder: Finder,
  destinations: readonly Destination[],
): Promise<Partial<Record<OrderState, number>>> {
  const counts: Partial<Record<OrderState, number>> = {}
  for (const { state, count } of await countEach(finder, destinations))
    counts[state] = (counts[state] ?? 0) + count
  return counts
}

export async function countEach(
  finder: Finder,
  destinations: readonly Destination[],
): Promise<OrderCount[]> {
  const { session, dialect } = finder
  if (destinations.length > dialect.mostNamed)
    return countTokens(finder, indexDestinations(destinations))
  const names = new Map(
    destinations.flatMap((destination) =>
      Object.keys(states).map((state) => [
        counterName({ ...destination, state }),
        destination,
      ]),
    ),
  )
  const list = dialect.listOf('text', [...names.keys()])
  const found = await session
    .selectFrom('counters')
    .select(['name', 'last'])
    .where(dialect.among('name', 'text', list))
    .where('last', '>', 0n)
    .execute()
  return found.flatMap((counter) => {
    const destination = names.get(counter.name)
    return destination ? [{ ...parseCounter(counter), ...destination }] : []
  })
}

/**
 * Reads the counters of all recipients of each token, and returns those of the
 * wanted destinations. Faster than naming thousands of recipients.
 */
async function countTokens(
  { session }: Finder,
  { tokens, has }: DestinationIndex,
): Promise<OrderCount[]> {
  const counts: OrderCount[] = []
  for (const { chainId, token } of tokens) {
    const prefix = `orders ${chainId} ${token} `.toLowerCase()
    const found = await session
      .selectFrom('counters')
      .select(['name', 'last'])
      .where(beginsWith('name', prefix))
      .where('last', '>', 0n)
      .execute()
    addAll(counts, found.map(parseCounter).filter(has))
  }
  return counts
}

/**
 * Splits a counter's name into the parts from which `counterName` built it.
 * Needs no checks, because only `counterOf` makes the stored names.
 */
function parseCounter({
  name,
  last,
}: {
  name: string
  last: bigint
}): OrderCount {
  const [, chainId, token, recipient, state] = name.split(' ')
  return {
    chainId: Number(chainId),
    token: token as Address,
    recipient: recipient as Address,
    state: state as OrderState,
    count: Number(last),
  }
}

/**
 * Collects by how much a transaction changes the counters of orders, so that
 * one statement can write all of them at its end.
 */
export type CountChanges = {
  inserted(rows: readonly object[]): void
  /**
   * Returns the rows as they were before an update, from memory if possible.
   */
  before(rows: readonly VersionedRow[]): Promise<readonly object[]>
  updated(before: readonly object[], after: readonly object[]): void
  /** Returns the change of each counter, and starts again at 0. */
  take(): Map<string, bigint>
}

export function startCounting(finder: Finder, seen: SeenRows): CountChanges {
  let rises = new Map<string, bigint>()
  const count = (rows: readonly object[], by: bigint) => {
    for (const row of rows) {
      if (!isListed(row)) continue
      const name = counterOf(row)
      rises.set(name, (rises.get(name) ?? 0n) + by)
    }
  }
  return {
    inserted: (rows) => count(rows, 1n),
    before: async (rows) => {
      const known: object[] = []
      const ids: string[] = []
      for (const row of rows) {
        // Uses the remembered row without a read: a row with the same version
        // is unchanged.
        const kept = seen.find(orderTable, row)
        if (kept) known.push(kept)
        else ids.push(String(Reflect.get(row, 'id')))
      }
      return ids.length
        ? [...known, ...(await findOrders(finder, { ids }))]
        : known
    },
    updated: (before, after) => {
      count(before, -1n)
      count(after, 1n)
    },
    take: () => {
      const taken = [...rises].filter(([, by]) => by !== 0n)
      rises = new Map()
      return new Map(taken)
    },
  }
}

/**
 * Raises counters, and returns their new values by name. Each counter stays
 * locked until the end of the transaction. All writers lock counters in the
 * order of their names, so that no deadlock is possible.
 */
export async function raiseCounters(
  place: QueryPlace,
  rises: ReadonlyMap<string, bigint>,
): Promise<ReadonlyMap<string, bigint>> {
  const sorted = [...rises].sort(([one], [other]) => (one < other ? -1 : 1))
  const json = JSON.stringify(sorted.map(([name, by]) => [name, `${by}`]))
  const { rows } = await runQuery(place, countersRaised, {
    shape: {},
    values: { json },
  })
  return new Map(rows.map(({ name, last }) => [name, BigInt(last)]))
}

function countersRaised(
  { session, dialect }: QueryPlace,
  _: object,
  slot: Slot<{ json: string }>,
): CompiledQuery<{ name: string; last: bigint }> {
  return sql<{ name: string; last: bigint }>`
    insert into counters (name, last)
    select ${sql.raw(dialect.cell('text', 0))},
      ${sql.raw(dialect.cell('bigint', 1))} from ${dialect.rows(slot('json'))}
    on conflict (name) do update set last = counters.last + excluded.last
    returning name, last`.compile(session)
}
