import type { Address, Hash } from 'viem'
import { endOfTime } from '../../core/clock.js'
import { lowerOf } from '../../core/lowerOf.js'
import {
  destinationKey,
  destinationPrefix,
} from '../../store/destinationKey.js'
import {
  countForm,
  type Form,
  fields,
  hexForm,
  integerForm,
  listOf,
  optional,
  setting,
  textForm,
} from '../../store/setting.js'
import type {
  Destination,
  Lease,
  PaymentStore,
  StoreReader,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import type { SeenBlock } from '../evidence/findCanonical.js'
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

/**
 * What is stored for a destination that is read together with others of its
 * token: only the first block is its own. `shared` is the key of the cursor
 * that they share.
 */
type SharedPlace = { from: bigint; shared: string }

/** A seen block is written as a pair. */
const seenForm: Form<SeenBlock> = {
  encode: ({ number, hash }) => [String(number), hash],
  parse: (stored, path) => {
    const [number, hash] = Array.isArray(stored) ? stored : []
    return {
      number: integerForm.parse(number, path),
      hash: hexForm.parse(hash, path),
    }
  },
}

type FlatCursor = Omit<SharedCursor, 'last' | 'seen'> & {
  block: bigint
  hash: Hash
  seen: readonly SeenBlock[] | undefined
}

const walkForm = () =>
  fields<OpenWalk>({
    after: optional(integerForm),
    since: integerForm,
    again: optional(integerForm),
  })

/** The last block read is written as two members, `block` and `hash`. */
function cursorForm(): Form<SharedCursor> {
  const flat = fields<FlatCursor>({
    from: integerForm,
    block: integerForm,
    hash: hexForm,
    seen: optional(listOf(seenForm)),
    walk: optional(walkForm()),
    alone: optional(listOf(hexForm)),
    changes: optional(countForm),
  })
  return {
    encode: ({ last: { number: block, hash }, ...cursor }) =>
      flat.encode({ ...cursor, block, hash }),
    parse: (stored, path) => {
      const { block: number, hash, ...cursor } = flat.parse(stored, path)
      return { ...cursor, seen: cursor.seen ?? [], last: { number, hash } }
    },
  }
}

/** The row of a destination: a cursor of its own, or the key of a shared one. */
function ownForm(): Form<SharedPlace | DestinationCursor> {
  const cursor = cursorForm()
  const place = fields<SharedPlace>({ from: integerForm, shared: textForm })
  return {
    encode: (row) => ('shared' in row ? place.encode(row) : cursor.encode(row)),
    parse: (stored, path) =>
      (Object(stored).shared === undefined ? cursor : place).parse(
        stored,
        path,
      ),
  }
}

const ownSetting = (destination: Destination) =>
  setting(destinationKey('cursor', destination), ownForm())

const sharedSetting = (key: string) => setting(key, cursorForm())

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
  const own = await ownSetting(destination).load(tables)
  if (!own || !('shared' in own)) return own
  const shared = await loadSharedCursor(tables, own.shared)
  return shared && { ...shared, from: own.from }
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
export function loadSharedCursor(
  tables: Values,
  sharedKey: string,
): Promise<SharedCursor | undefined> {
  return sharedSetting(sharedKey).load(tables)
}

/**
 * Returns the recipients that are read separately; `undefined` if this is not
 * known: nothing was reconciled yet, the recipients changed, or an older release
 * wrote the row.
 */
function aloneAt(
  shared: SharedCursor | undefined,
  changes: number,
): readonly Address[] | undefined {
  return (shared?.changes ?? 0) === changes ? shared?.alone : undefined
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
  const known = aloneAt(shared, changes)
  if (!shared || !known) {
    const rows = await loadCursors(tables, destinations)
    return reconciledOf(
      [...rows].map(([recipient, { cursor }]) => [recipient, cursor]),
    )
  }
  const alone = new Set(known)
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
  const known = aloneAt(onRecord, changes)
  if (known)
    return { alone: new Set(known), joining: [], start: undefined, changes }
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
  const form = ownForm()
  for (const destination of destinations) {
    const key = destinationKey('cursor', destination)
    const stored = values.get(key)
    const own = stored && form.parse(stored, key)
    if (!own) continue
    const { recipient } = destination
    if (!('shared' in own)) {
      rows.set(recipient, { cursor: own, shared: undefined })
      continue
    }
    const { shared, from } = own
    if (!known.has(shared))
      known.set(shared, await loadSharedCursor(tables, shared))
    const cursor = known.get(shared)
    if (cursor) rows.set(recipient, { cursor: { ...cursor, from }, shared })
  }
  return rows
}

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
  const row = ownSetting(destination)
  await store.write(
    async (tables) => {
      await tables.lock(row.key)
      const own = await row.load(tables)
      const next =
        own && 'shared' in own
          ? { ...own, from: lowerOf(own.from, after.from) }
          : furtherOf(own, { before, after })
      if (next) await row.write(tables, next)
    },
    { lease },
  )
}

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
        await sharedSetting(sharedKey).write(tables, {
          ...next,
          alone: [...alone],
          changes,
        })
      for (const { from, ...destination } of joining) {
        const known =
          from === 'new'
            ? after.from
            : (from ?? (await loadCursor(tables, destination))?.from)
        const first = known ?? after.from
        const place = { from: first, shared: sharedKey }
        await ownSetting(destination).write(tables, place)
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
  await store.write(
    async (tables) => {
      await tables.lock(sharedKey)
      const shared = await loadSharedCursor(tables, sharedKey)
      const known = await loadCursor(tables, destination)
      const from = known?.from ?? cursor.from
      const { last, seen, walk } = cursor
      await ownSetting(destination).write(tables, { from, last, seen, walk })
      // Write both rows in one database transaction: otherwise a process could
      // still read this destination by the shared cursor, and miss its
      // payments.
      if (shared)
        await sharedSetting(sharedKey).write(tables, {
          ...shared,
          alone: [...alone],
        })
    },
    { lease },
  )
}
