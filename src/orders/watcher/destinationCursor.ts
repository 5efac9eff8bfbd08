import type { Address, Hash } from 'viem'
import { endOfTime } from '../../core/clock.js'
import {
  destinationKey,
  destinationPrefix,
} from '../../store/destinationKey.js'
import type {
  Destination,
  Lease,
  PaymentStore,
  StoredValue,
  StoreReader,
} from '../../store/types.js'
import type { SeenBlock } from '../evidence/findCanonical.js'
import type { OrdersContext } from '../model/types.js'
import { watchKey } from './watchKeys.js'

/**
 * The last block of a destination that a reconciliation has read, and what the
 * next one needs.
 */
export type DestinationCursor = {
  /** The first block that any reconciliation of this destination read. */
  from: bigint
  /** The last block read: the store has every payment up to it, inclusive. */
  last: SeenBlock
  /**
   * Newest blocks that earlier polls saw, lowest first. They show where a reorg
   * began.
   */
  seen: readonly SeenBlock[]
  /**
   * Position in the list of open orders, if one reconciliation cannot ask about
   * all of them. Absent while each asks about all.
   */
  walk?: OpenWalk | undefined
}

/**
 * How far the chain was asked about the payment nonces of open orders. If there
 * are too many orders for one reconciliation, several ask about one part each;
 * together they are a round.
 */
export type OpenWalk = {
  /**
   * Position of the last order that was asked about; absent before the first.
   */
  after: bigint | undefined
  /** First block in which this round (one pass over all orders) searches. */
  since: bigint
  /**
   * First block in which the next round will search; absent before the first
   * part of this round.
   */
  again: bigint | undefined
}

/**
 * Returns where the next reconciliation continues the round.
 *
 * @param done.fromBlock first block of this reconciliation.
 * @param done.after position of the last order asked about; absent after the
 * last order.
 * @param done.isAll true when this reconciliation began at the first open
 * order.
 */
export function nextWalk(
  walk: OpenWalk | undefined,
  {
    fromBlock,
    after,
    isAll,
  }: { fromBlock: bigint; after: bigint | undefined; isAll: boolean },
): OpenWalk | undefined {
  const since = lowerOf(walk?.since, fromBlock)
  // This round does not return to the orders before `after`. The next round
  // asks about them, from the first block of this reconciliation on.
  const again = lowerOf(walk?.again, fromBlock)
  if (after !== undefined) return { after, since, again }
  return isAll ? undefined : { after, since: again, again: undefined }
}

export function lowerOf(one: bigint | undefined, other: bigint): bigint {
  return one !== undefined && one < other ? one : other
}

/** The cursor as it is stored; `seen` has pairs of block number and hash. */
type StoredCursor = {
  from: string
  block: string
  hash: Hash
  seen: readonly (readonly [string, Hash])[]
  walk?: StoredWalk
}

/**
 * Stored value of a destination that is read together with others of its token.
 * Only the first block is its own. `shared` is the key of the cursor that they
 * share.
 */
type StoredPlace = { from: string; shared: string }

type StoredWalk = { since: string; after?: string; again?: string }

/**
 * Number of blocks below the newest for which every seen block is kept, to find
 * where a reorganization began.
 */
export const traced = 64n

/** Most seen blocks to keep. */
const mostSeen = 80

/**
 * Adds a newest block to the seen ones. Of those at least 64 blocks below it,
 * keeps only the highest.
 */
export function addSeen(
  seen: readonly SeenBlock[],
  head: SeenBlock,
): readonly SeenBlock[] {
  const below = seen.filter(({ number }) => number < head.number)
  const isDeep = ({ number }: SeenBlock) => number + traced <= head.number
  const deep = below.filter(isDeep).slice(-1)
  const near = below.filter((block) => !isDeep(block))
  return [...deep, ...near, head].slice(-mostSeen)
}

type Values = Pick<StoreReader, 'getValue'>

/**
 * Loads the cursor of a destination (the last block read): its own or the
 * shared one.
 */
export async function loadCursor(
  tables: Values,
  destination: Destination,
): Promise<DestinationCursor | undefined> {
  const own = await tables.getValue(destinationKey('cursor', destination))
  if (typeof own?.shared !== 'string') return own && parseCursor(own)
  const shared = await tables.getValue(own.shared)
  return shared && parseCursor({ ...shared, from: own.from })
}

/**
 * The cursor that destinations of a token share because they are read together.
 * `alone` lists the recipients that are read separately; absent in rows that
 * older releases wrote.
 */
export type SharedCursor = DestinationCursor & {
  alone?: readonly Address[] | undefined
  /**
   * Number of changes of the shop's recipients when `alone` was last complete.
   */
  changes?: number | undefined
}

/** Loads the cursor that the destinations of a token share. */
export async function loadSharedCursor(
  tables: Values,
  sharedKey: string,
): Promise<SharedCursor | undefined> {
  const value = await tables.getValue(sharedKey)
  if (!value) return undefined
  const { alone, changes } = value
  return Array.isArray(alone)
    ? { ...parseCursor(value), alone, changes: Number(changes ?? 0) }
    : parseCursor(value)
}

/** For each recipient, the block up to which the store has every payment. */
export type Reconciled = {
  of(recipient: Address): bigint | undefined
  /** The highest such block of all recipients. */
  highest: bigint | undefined
}

/**
 * Loads, for destinations of a token, the block up to which the store has every
 * payment. Destinations with a shared cursor get one answer, because there may
 * be thousands of them.
 */
export async function loadReconciled(
  tables: Pick<StoreReader, 'getValue' | 'findValues'>,
  { sharedKey, changes }: { sharedKey: string; changes: number },
  destinations: readonly Destination[],
): Promise<Reconciled> {
  const shared = await loadSharedCursor(tables, sharedKey)
  if (!shared?.alone || shared.changes !== changes) {
    // Nothing was reconciled yet, the recipients changed, or an older release
    // wrote the row. So load the cursors of all.
    const rows = await loadCursors(tables, destinations)
    return reconciledOf(
      [...rows].map(([recipient, { cursor }]) => [recipient, cursor]),
    )
  }
  const alone = new Set(shared.alone)
  const apart: [Address, DestinationCursor][] = []
  for (const destination of destinations) {
    const { recipient } = destination
    if (!alone.has(recipient)) continue
    const cursor = await loadCursor(tables, destination)
    if (cursor) apart.push([recipient, cursor])
  }
  const ofApart = reconciledOf(apart)
  const inStep = shared.last.number
  const highest = maxOf([inStep, ofApart.highest ?? inStep])
  return {
    of: (recipient) => (alone.has(recipient) ? ofApart.of(recipient) : inStep),
    highest,
  }
}

function reconciledOf(
  cursors: readonly (readonly [Address, DestinationCursor])[],
): Reconciled {
  const blocks = new Map(
    cursors.map(([recipient, { last }]) => [recipient, last.number]),
  )
  const numbers = [...blocks.values()]
  return {
    of: (recipient) => blocks.get(recipient),
    highest: numbers.length > 0 ? maxOf(numbers) : undefined,
  }
}

function maxOf(numbers: readonly bigint[]): bigint {
  return numbers.reduce((most, one) => (one > most ? one : most))
}

/**
 * The last block read for the recipients of a token. Recipients that are read
 * together share a cursor.
 */
export type Places = {
  /**
   * Recipients that are read separately: each has its own cursor, or none yet.
   */
  alone: Set<Address>
  /**
   * Destinations that use the shared cursor, although their rows in the store
   * do not say so yet.
   */
  joining: Joining[]
  /** The shared cursor to start from, until it is first moved and written. */
  start: DestinationCursor | undefined
  /** Number of changes of the shop's recipients when these were loaded. */
  changes: number
}

/** A destination that starts to use the shared cursor of its token. */
export type Joining = Destination & {
  /**
   * The first block that was ever read for the destination: `new` if that is
   * the first block of the current read. Absent if it is stored already.
   */
  from?: bigint | 'new' | undefined
}

/**
 * Decides which destinations of a token are read together: those that were read
 * as far as the shared cursor, and those without open orders, which have
 * nothing to catch up on. Without a shared cursor, uses the highest cursor of a
 * destination instead.
 *
 * @param token.destinations all watched destinations of this token.
 * @param token.changes number of changes of the shop's recipients when
 * `destinations` was read.
 */
export async function placeRecipients(
  tables: Pick<StoreReader, 'getValue' | 'findValues' | 'orders'>,
  {
    sharedKey,
    destinations,
    head,
    changes,
  }: {
    sharedKey: string
    destinations: readonly Destination[]
    head: { number: bigint }
    changes: number
  },
): Promise<Places> {
  const onRecord = await loadSharedCursor(tables, sharedKey)
  if (onRecord?.alone && onRecord.changes === changes) {
    const alone = new Set(onRecord.alone)
    return { alone, joining: [], start: undefined, changes }
  }
  const rows = await loadCursors(tables, destinations)
  const strangers = destinations.filter(({ recipient }) => !rows.has(recipient))
  const open = await findOpenRecipients(tables, strangers)
  const others = [...rows.values()].filter(({ shared }) => shared !== sharedKey)
  const shared =
    onRecord ??
    others.reduce<DestinationCursor | undefined>(
      (high, { cursor }) =>
        high && high.last.number >= cursor.last.number ? high : cursor,
      undefined,
    )
  const places: Places = {
    alone: new Set(),
    joining: [],
    start: onRecord ? undefined : shared,
    changes,
  }
  for (const destination of destinations) {
    const { recipient } = destination
    const row = rows.get(recipient)
    if (row?.shared === sharedKey) continue
    const isRead = row && shared && row.cursor.last.number >= shared.last.number
    if (isRead) places.joining.push({ ...destination, from: row.cursor.from })
    else if (!shared) places.joining.push({ ...destination, from: 'new' })
    else if (row || open.has(recipient)) places.alone.add(recipient)
    else places.joining.push({ ...destination, from: head.number })
  }
  return places
}

type CursorRow = { cursor: DestinationCursor; shared: string | undefined }

async function loadCursors(
  tables: Pick<StoreReader, 'getValue' | 'findValues'>,
  destinations: readonly Destination[],
): Promise<ReadonlyMap<Address, CursorRow>> {
  const [first] = destinations
  const rows = new Map<Address, CursorRow>()
  if (!first) return rows
  const prefix = destinationPrefix('cursor', first)
  const values = new Map(
    (await tables.findValues(prefix)).map(({ key, value }) => [key, value]),
  )
  if (values.size === 0) return rows
  const known = new Map<string, SharedCursor | undefined>()
  for (const destination of destinations) {
    const own = values.get(destinationKey('cursor', destination))
    if (!own) continue
    const { shared, from } = own
    if (typeof shared === 'string' && !known.has(shared))
      known.set(shared, await loadSharedCursor(tables, shared))
    const cursor =
      typeof shared === 'string'
        ? withFrom(known.get(shared), from)
        : parseCursor(own)
    if (cursor)
      rows.set(destination.recipient, {
        cursor,
        shared: typeof shared === 'string' ? shared : undefined,
      })
  }
  return rows
}

const withFrom = (
  cursor: DestinationCursor | undefined,
  from: unknown,
): DestinationCursor | undefined =>
  cursor && { ...cursor, from: BigInt(String(from)) }

/**
 * Most orders to read at first to find out which recipients have open orders.
 */
const mostRead = 1_000

/** Finds which of these destinations of a token have open orders. */
async function findOpenRecipients(
  { orders }: Pick<StoreReader, 'orders'>,
  destinations: readonly Destination[],
): Promise<ReadonlySet<Address>> {
  if (destinations.length === 0) return new Set()
  for (let limit = mostRead; ; limit *= 4) {
    const query = { lookDue: destinations, until: endOfTime, limit }
    const found = await orders.find(query)
    if (found.length < limit)
      return new Set(found.map(({ recipient }) => recipient))
  }
}

/**
 * Most destinations whose cursors are searched for blocks that earlier polls
 * saw.
 */
const mostAsked = 20

/** Loads the blocks that the previous process saw, from the highest cursor. */
export async function loadSeen(
  context: Pick<OrdersContext, 'watches'>,
  tables: Values,
  destinations: readonly Destination[],
): Promise<readonly SeenBlock[]> {
  const cursors: (DestinationCursor | undefined)[] = []
  const tokens = new Map(destinations.map((one) => [one.token, one]))
  for (const { chainId, token } of tokens.values()) {
    const key = watchKey(context, { chainId, token }, 'cursor')
    cursors.push(await loadSharedCursor(tables, key))
  }
  for (const destination of destinations.slice(0, mostAsked))
    cursors.push(await loadCursor(tables, destination))
  const highest = cursors.reduce(
    (high, one) =>
      (one?.last.number ?? -1n) > (high?.last.number ?? -1n) ? one : high,
    undefined,
  )
  return highest?.seen ?? []
}

function parseCursor(value: StoredValue): DestinationCursor {
  const seen = Array.isArray(value.seen) ? value.seen : []
  return {
    from: BigInt(String(value.from)),
    last: parseSeen([value.block, value.hash]),
    seen: seen.map(parseSeen),
    ...(value.walk ? { walk: parseWalk(Object(value.walk)) } : {}),
  }
}

function parseWalk({ after, since, again }: StoredWalk): OpenWalk {
  const parse = (text: unknown) =>
    text === undefined ? undefined : BigInt(String(text))
  return {
    after: parse(after),
    since: BigInt(String(since)),
    again: parse(again),
  }
}

export function encodeCursor({
  from,
  last,
  seen,
  walk,
}: DestinationCursor): StoredCursor {
  return {
    from: String(from),
    block: String(last.number),
    hash: last.hash,
    seen: seen.map(({ number, hash }) => [String(number), hash]),
    ...(walk ? { walk: encodeWalk(walk) } : {}),
  }
}

function encodeWalk({ after, since, again }: OpenWalk): StoredWalk {
  return {
    since: String(since),
    ...(after === undefined ? {} : { after: String(after) }),
    ...(again === undefined ? {} : { again: String(again) }),
  }
}

function parseSeen(pair: readonly unknown[]): SeenBlock {
  return { number: BigInt(String(pair[0])), hash: String(pair[1]) as Hash }
}

/** Where a reconciliation started, and the last block that it read. */
export type CursorMove = {
  before: DestinationCursor | undefined
  after: DestinationCursor
}

/**
 * Writes the last block that was read for a destination. If another process has
 * read further meanwhile, keeps that process's cursor. A destination with the
 * shared cursor keeps using it.
 *
 * @param cursors.before the cursor from which this reconciliation began.
 * @throws {@link LeaseLostError} when another process now holds the lease for
 * watching the chain.
 */
export async function moveCursor(
  { store }: { store: PaymentStore },
  {
    destination,
    lease,
  }: { destination: Destination; lease: Lease | undefined },
  { before, after }: CursorMove,
): Promise<void> {
  const key = destinationKey('cursor', destination)
  await store.write(
    async (tables) => {
      await tables.lock(key)
      const own = await tables.getValue(key)
      if (typeof own?.shared === 'string') {
        const from = lowerOf(BigInt(String(own.from)), after.from)
        const place: StoredPlace = { from: String(from), shared: own.shared }
        await tables.setValue(key, place)
        return
      }
      const next = furtherOf(own && parseCursor(own), { before, after })
      if (next) await tables.setValue(key, encodeCursor(next))
    },
    { lease },
  )
}

const encodeShared = (
  cursor: DestinationCursor,
  {
    alone,
    changes = 0,
  }: { alone: ReadonlySet<Address>; changes?: number | undefined },
) => ({
  ...encodeCursor(cursor),
  alone: [...alone],
  ...(changes === 0 ? {} : { changes }),
})

/**
 * Writes the shared cursor of a token, and which further destinations use it
 * from now on.
 *
 * @throws {@link LeaseLostError} when another process now holds the lease for
 * watching the chain.
 */
export async function moveSharedCursor(
  { store }: { store: PaymentStore },
  {
    sharedKey,
    alone,
    changes,
    joining,
    lease,
  }: {
    sharedKey: string
    alone: ReadonlySet<Address>
    changes: number
    joining: readonly Joining[]
    lease: Lease | undefined
  },
  { before, after }: CursorMove,
): Promise<void> {
  await store.write(
    async (tables) => {
      await tables.lock(sharedKey)
      const current = await loadSharedCursor(tables, sharedKey)
      const next = furtherOf(current, { before, after }) ?? current
      if (next)
        await tables.setValue(sharedKey, encodeShared(next, { alone, changes }))
      for (const { from, ...destination } of joining) {
        const known =
          from === 'new'
            ? after.from
            : (from ?? (await loadCursor(tables, destination))?.from)
        const first = known ?? after.from
        const place: StoredPlace = { from: String(first), shared: sharedKey }
        await tables.setValue(destinationKey('cursor', destination), place)
      }
    },
    { lease },
  )
}

/** Returns the cursor to write, or `undefined` if the stored one is further. */
function furtherOf(
  current: DestinationCursor | undefined,
  { before, after }: CursorMove,
): DestinationCursor | undefined {
  const isOthers = current && current.last.hash !== before?.last.hash
  const isFurther = isOthers && current.last.number >= after.last.number
  const next = isFurther ? current : after
  const from = lowerOf(current?.from, after.from)
  return isFurther && from === current.from ? undefined : { ...next, from }
}

/**
 * Gives a destination its own cursor again, because it lacks blocks that the
 * destinations with the shared cursor have read.
 */
export async function leaveSharedCursor(
  { store }: { store: PaymentStore },
  {
    destination,
    sharedKey,
    alone,
    lease,
  }: {
    destination: Destination
    sharedKey: string
    /** The recipients that are read separately, including this one. */
    alone: ReadonlySet<Address>
    lease: Lease | undefined
  },
  cursor: DestinationCursor,
): Promise<void> {
  const key = destinationKey('cursor', destination)
  await store.write(
    async (tables) => {
      await tables.lock(sharedKey)
      const shared = await loadSharedCursor(tables, sharedKey)
      const known = await loadCursor(tables, destination)
      const from = known?.from ?? cursor.from
      await tables.setValue(key, encodeCursor({ ...cursor, from }))
      // Write both rows in one database transaction: otherwise a process could
      // still read this destination by the shared cursor, and miss its
      // payments.
      if (shared) {
        const { changes } = shared
        await tables.setValue(
          sharedKey,
          encodeShared(shared, { alone, changes }),
        )
      }
    },
    { lease },
  )
}
