import type { Hex } from 'viem'
import { gatherCalls } from '../../core/gatherCalls.js'
import type { OrdersContext } from '../../orders/engine.js'
import { isWorthAlone } from '../../store/isWorthAlone.js'
import type {
  ChannelRecord,
  JsonObject,
  NoteRecord,
  StoreWriter,
} from '../../store/types.js'
import { voucherPlace } from '../../store/voucherPlace.js'
import { writeAgain } from '../../store/writeAgain.js'
import { chargeChannel } from './chargeChannel.js'
import type { ChannelsPolicy } from './types.js'

/** A note of the store that is replaced together with a charge. */
type ChannelNote = { key: string; until: bigint; data: JsonObject }

/** A charge as the gate wants it written. */
type BookedCharge = {
  channel: ChannelRecord
  /** Base units of the token; 0 keeps the voucher without a charge. */
  value: bigint
  /** Cumulative amount that the voucher allows, in base units. */
  maxClaimable: bigint
  /** The voucher's signature, in the form that the contract accepts. */
  signature: Hex
  /** The answer that is kept, if there is one. */
  note?: ChannelNote | undefined
}

/** The channels on record, and a copy of those in use. */
export type ChannelBook = {
  /** Loads a channel: from memory if this process has it, else from the store. */
  load(id: Hex): Promise<ChannelRecord | undefined>
  /** Loads a channel from the store. */
  reload(id: Hex): Promise<ChannelRecord | undefined>
  /** Remembers a channel that was just written. */
  remember(channel: ChannelRecord): void
  /** Runs work on one channel after all earlier work on it in this process. */
  inTurn<result>(id: Hex, work: () => Promise<result>): Promise<result>
  /**
   * Writes a charge, its voucher and its answer in one transaction, which charges
   * of the same moment share. Returns `undefined`, and writes nothing, when
   * another process has changed the channel meanwhile.
   */
  charge(charge: BookedCharge): Promise<ChannelRecord | undefined>
  /**
   * Changes a channel as `plan` says, again if it was changed meanwhile. `plan`
   * returns `undefined` to leave it as it is.
   */
  change(
    id: Hex,
    plan: (
      channel: ChannelRecord,
      tables: StoreWriter,
    ) => ChannelRecord | undefined | Promise<ChannelRecord | undefined>,
    also?: (tables: StoreWriter, channel: ChannelRecord) => Promise<void>,
  ): Promise<ChannelRecord | undefined>
}

/** Most channels that are kept in memory. */
const mostKept = 10_000

/** Most charges in one transaction, so that other writers wait only briefly. */
const mostCharges = 100

type Written = { row: ChannelRecord; note: ChannelNote | undefined }

export function openBook(
  context: OrdersContext,
  policy: ChannelsPolicy,
): ChannelBook {
  const kept = new Map<Hex, ChannelRecord>()
  const turns = new Map<Hex, Promise<unknown>>()
  const remember = (channel: ChannelRecord) => {
    // An older answer of the store must not hide what was written since.
    const known = kept.get(channel.id)
    if (known && known.version > channel.version) return
    kept.delete(channel.id)
    kept.set(channel.id, channel)
    const [oldest] = kept.keys()
    if (kept.size > mostKept && oldest) kept.delete(oldest)
  }
  const reload = async (id: Hex) => {
    const [found] = await context.store.read(({ channels }) =>
      channels.find({ ids: [id] }),
    )
    if (found) remember(found)
    return found
  }
  const collect = gatherCalls<Written, boolean>({
    work: (group) =>
      writeAgain(context, (tables) => writeCharges(tables, group)),
    choose: (waiting) => chooseDistinct(waiting),
    atOnce: 1,
    waitsForTurn: true,
    isWorthAlone,
  })
  return {
    load: async (id) => kept.get(id) ?? reload(id),
    reload,
    remember,
    inTurn: async (id, work) => {
      const before = turns.get(id)
      const turn = (before ?? Promise.resolve()).then(work, work)
      const settled = turn.catch(() => undefined)
      turns.set(id, settled)
      try {
        return await turn
      } finally {
        if (turns.get(id) === settled) turns.delete(id)
      }
    },
    charge: async ({ channel, signature, note, ...wanted }) => {
      const voucher = await context.sealer.seal(
        signature,
        voucherPlace({ id: channel.id, signed: wanted.maxClaimable }),
      )
      const now = context.now() / 1000n
      const row = chargeChannel(channel, { ...wanted, voucher, now }, policy)
      let isWritten = false
      try {
        isWritten = await collect({ row, note })
      } finally {
        // A write that throws may have reached the database all the same.
        if (!isWritten) kept.delete(row.id)
      }
      if (!isWritten) return undefined
      const written = { ...row, version: row.version + 1 }
      remember(written)
      return written
    },
    change: async (id, plan, also) => {
      const changed = await writeAgain(context, async (tables) => {
        const [found] = await tables.channels.find({ ids: [id] })
        const planned = found && (await plan(found, tables))
        if (!planned) return found
        await tables.channels.update([planned])
        await also?.(tables, planned)
        return { ...planned, version: planned.version + 1 }
      })
      if (changed) remember(changed)
      return changed
    },
  }
}

/** Two changes of one channel never share a transaction. */
function chooseDistinct(waiting: readonly Written[]): Written[] {
  const chosen = new Map<Hex, Written>()
  for (const one of waiting) {
    if (chosen.size === mostCharges) break
    if (!chosen.has(one.row.id)) chosen.set(one.row.id, one)
  }
  return [...chosen.values()]
}

/** Writes charges. Skips those whose channel was changed meanwhile. */
async function writeCharges(
  tables: StoreWriter,
  group: readonly Written[],
): Promise<boolean[]> {
  const ids = group.map(({ row }) => row.id)
  const found = await tables.channels.find({ ids })
  const versions = new Map(found.map(({ id, version }) => [id, version]))
  const own = group.filter(({ row }) => versions.get(row.id) === row.version)
  if (own.length > 0) {
    await tables.channels.update(own.map(({ row }) => row))
    await writeNotes(
      tables,
      own.flatMap(({ note }) => note ?? []),
    )
  }
  return group.map((one) => own.includes(one))
}

/** Writes notes, whether or not they exist. */
async function writeNotes(
  { notes }: Pick<StoreWriter, 'notes'>,
  given: readonly ChannelNote[],
): Promise<void> {
  if (given.length === 0) return
  const keys = given.map(({ key }) => key)
  const found = await notes.find({ keys })
  const versions = new Map(found.map(({ key, version }) => [key, version]))
  const updated: NoteRecord[] = []
  const inserted: ChannelNote[] = []
  for (const note of given) {
    const version = versions.get(note.key)
    if (version === undefined) inserted.push(note)
    else updated.push({ ...note, version })
  }
  if (inserted.length > 0) await notes.insert(inserted)
  if (updated.length > 0) await notes.update(updated)
}
