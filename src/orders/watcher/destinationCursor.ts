import type { Address, Hash } from 'viem'
import { endOfTime } from '../../core/clock.js'
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

/** How far a destination is reconciled. */
export type DestinationCursor = {
  /** The first block that a reconciliation ever read. */
  from: bigint
  /** No payment is missing up to this block, inclusive. */
  last: SeenBlock
  /** Heads seen earlier, lowest first; they show where a reorg began. */
  seen: readonly SeenBlock[]
  /** Absent while each reconciliation asks about all open orders. */
  walk?: OpenWalk | undefined
}

/**
 * A walk over all open orders. It takes several reconciliations if there are
 * too many orders for one. Each round asks the chain what spent their nonces.
 */
export type OpenWalk = {
  /** Position of the last order asked about; absent before the first. */
  after: bigint | undefined
  /** First block that this round asks about. */
  since: bigint
  /** First block of the next round; absent before the first part. */
  again: bigint | undefined
}

/**
 * Returns where the walk goes on after a reconciliation. Pure.
 *
 * @param done.fromBlock first block of that reconciliation.
 * @param done.after position of the last order asked about; absent at the end.
 * @param done.isAll true when the walk began at the first open order.
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
  // The orders that this round has passed are asked about again in the next
  // one, from this reconciliation on.
  const again = lowerOf(walk?.again, fromBlock)
  if (after !== undefined) return { after, since, again }
  return isAll ? undefined : { after, since: again, again: undefined }
}

export function lowerOf(one: bigint | undefined, other: bigint): bigint {
  return one !== undefined && one < other ? one : other
}

/** The cursor as stored; `seen` has pairs of block number and hash. */
type StoredCursor = {
  from: string
  block: string
  hash: Hash
  seen: readonly (readonly [string, Hash])[]
  walk?: StoredWalk
}

/**
 * The row of a destination that is read together with others of its token: only
 * the first block is its own. `shared` is the key of the row with the rest.
 */
type StoredPlace = { from: string; shared: string }

type StoredWalk = { since: string; after?: string; again?: string }

/**
 * Number of blocks below the newest for which every seen head is kept, to find
 * where a reorganization began.
 */
export const traced = 64n

/** Maximum number of seen heads to keep. */
const mostSeen = 80

/** The key in the store of a destination's cursor, or of its schedules. */
export const destinationKey = (
  kind: 'cursor' | 'schedule',
  { recipient, ...token }: Destination,
): string => `${destinationPrefix(kind, token)}${recipient}`

/** The beginning of the keys of all destinations of a token. */
export const destinationPrefix = (
  kind: 'cursor' | 'schedule',
  { chainId, token }: Omit<Destination, 'recipient'>,
): string => `${kind}:${chainId}:${token}:`

/**
 * Adds a head to the seen ones. Keeps only one head at least 64 blocks below
 * it.
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

/** Loads how far a destination is read, alone or together with others. */
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
 * The cursor of a token's destinations in step, which are read together. `alone`
 * has the others. Absent in rows that older releases wrote.
 */
export type SharedCursor = DestinationCursor & {
  alone?: readonly Address[] | undefined
}

/** Loads how far the destinations of a token that are in step are read. */
export async function loadSharedCursor(
  tables: Values,
  sharedKey: string,
): Promise<SharedCursor | undefined> {
  const value = await tables.getValue(sharedKey)
  if (!value) return undefined
  const { alone } = value
  return Array.isArray(alone)
    ? { ...parseCursor(value), alone }
    : parseCursor(value)
}

/**
 * Loads up to which block no payment to these destinations of a token is
 * missing, by recipient.
 */
export async function loadReconciled(
  tables: Values,
  sharedKey: string,
  destinations: readonly Destination[],
): Promise<ReadonlyMap<Address, bigint>> {
  const shared = await loadSharedCursor(tables, sharedKey)
  const own = shared?.alone && new Set(shared.alone)
  const blocks = new Map<Address, bigint>()
  for (const destination of destinations) {
    const { recipient } = destination
    const cursor =
      own && !own.has(recipient)
        ? shared
        : await loadCursor(tables, destination)
    if (cursor) blocks.set(recipient, cursor.last.number)
  }
  return blocks
}

/** How far the recipients of a token are read. Those in step share a cursor. */
export type Places = {
  /** Recipients that are not in step: each has a cursor of its own, or none. */
  alone: Set<Address>
  /**
   * Destinations that are in step, but whose rows on record do not say so yet.
   */
  joining: Joining[]
  /** The shared cursor, until its first move writes it. */
  start: DestinationCursor | undefined
}

/** A destination that begins to use the shared cursor of its token. */
export type Joining = Destination & {
  /**
   * The first block that was ever read for it: `new` if it is that of this
   * reading. Absent if the record has it.
   */
  from?: bigint | 'new' | undefined
}

/**
 * Finds which destinations of a token are in step: those that are read as far
 * as the shared cursor, and those without open orders, which have nothing to
 * read. Without a shared cursor, the highest cursor of a destination takes its
 * place.
 *
 * @param token.destinations all destinations of the watch in this token.
 */
export async function placeRecipients(
  tables: Pick<StoreReader, 'getValue' | 'findValues' | 'orders'>,
  {
    sharedKey,
    destinations,
    head,
  }: {
    sharedKey: string
    destinations: readonly Destination[]
    head: { number: bigint }
  },
): Promise<Places> {
  const onRecord = await loadSharedCursor(tables, sharedKey)
  if (onRecord?.alone)
    return { alone: new Set(onRecord.alone), joining: [], start: undefined }
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

/** Most orders to read at first to find the recipients that have open ones. */
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

/** Most destinations to ask for heads that earlier looks have seen. */
const mostAsked = 20

/** The heads that the last process saw: those of the highest cursor. */
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

/** Where a reconciliation began, and up to where it read. */
export type CursorMove = {
  before: DestinationCursor | undefined
  after: DestinationCursor
}

/**
 * Writes how far a destination is reconciled. If another process has read
 * further in the meantime, its cursor stays. A destination in step keeps using
 * the shared cursor.
 *
 * @param cursors.before the cursor from which this reconciliation began.
 * @throws {@link LeaseLostError} when another process holds the lease of the
 * watch.
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
  alone: ReadonlySet<Address>,
) => ({ ...encodeCursor(cursor), alone: [...alone] })

/**
 * Writes the shared cursor of a token, and which further destinations use it
 * from now on.
 *
 * @throws {@link LeaseLostError} when another process holds the lease of the
 * watch.
 */
export async function moveSharedCursor(
  { store }: { store: PaymentStore },
  {
    sharedKey,
    alone,
    joining,
    lease,
  }: {
    sharedKey: string
    alone: ReadonlySet<Address>
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
      if (next) await tables.setValue(sharedKey, encodeShared(next, alone))
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

/** The cursor to write; absent if the current one stays. */
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
 * Gives a destination a cursor of its own, because its blocks are not read yet.
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
    /** The recipients that are not in step, this one included. */
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
      // In the same unit of work, so that no process takes it for one in step.
      if (shared) await tables.setValue(sharedKey, encodeShared(shared, alone))
    },
    { lease },
  )
}
