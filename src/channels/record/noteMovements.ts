import type { Hex } from 'viem'
import { endOfTime } from '../../core/clock.js'
import type { NoteRecord, StoreReader, StoreWriter } from '../../store/types.js'

/** Ids of movements in one note. A full note is kept, and the next one begins. */
const mostIds = 20

/** What a note holds. */
type MovementIds = {
  /** The oldest first. */
  ids: readonly string[]
  /** How many older notes there are: they have the numbers below. */
  older: number
}

const headKey = (channelId: Hex) => `channelMovements/${channelId}`

const olderKey = (channelId: Hex, number: number) =>
  `${headKey(channelId)}/${number}`

/**
 * Writes down that a movement is of these channels, so that their statements
 * find it: the row of a claim names up to a hundred channels, and a row has only
 * one parent. Without a movement, only prepares the note of a new channel.
 */
export async function noteMovement(
  { notes }: Pick<StoreWriter, 'notes'>,
  channelIds: readonly Hex[],
  movementId?: string,
): Promise<void> {
  const found = await notes.find({ keys: channelIds.map(headKey) })
  const known = new Map(found.map((note) => [note.key, note]))
  const inserted: Omit<NoteRecord, 'version'>[] = []
  const updated: NoteRecord[] = []
  for (const channelId of channelIds) {
    const note = known.get(headKey(channelId))
    const { ids, older } = readNote(note)
    const isNoted = movementId === undefined || ids.includes(movementId)
    if (note && isNoted) continue
    const isFull = ids.length >= mostIds
    if (isFull)
      inserted.push(noteOf(olderKey(channelId, older), { ids, older: 0 }))
    const next = noteOf(headKey(channelId), {
      ids: [...(isFull ? [] : ids), ...(movementId ? [movementId] : [])],
      older: isFull ? older + 1 : older,
    })
    if (note) updated.push({ ...next, version: note.version })
    else inserted.push(next)
  }
  // Updates first: if another process changed a note, this throws the error that
  // has the whole write repeated.
  if (updated.length > 0) await notes.update(updated)
  if (inserted.length > 0) await notes.insert(inserted)
}

/** Finds the newest movements of channels, at most twenty of each. */
export async function findNewestMovements(
  { notes }: Pick<StoreReader, 'notes'>,
  channelIds: readonly Hex[],
): Promise<string[]> {
  const heads = await notes.find({ keys: channelIds.map(headKey) })
  return heads.flatMap((head) => readNote(head).ids)
}

/** Finds the ids of all movements of a channel, the oldest first. */
export async function findMovementIds(
  { notes }: Pick<StoreReader, 'notes'>,
  channelId: Hex,
): Promise<readonly string[]> {
  const [head] = await notes.find({ keys: [headKey(channelId)] })
  const { ids, older } = readNote(head)
  if (older === 0) return ids
  const keys = Array.from({ length: older }, (_, at) => olderKey(channelId, at))
  const found = await notes.find({ keys })
  const notesByKey = new Map(found.map((note) => [note.key, note]))
  const before = keys.flatMap((key) => readNote(notesByKey.get(key)).ids)
  return [...before, ...ids]
}

function noteOf(
  key: string,
  { ids, older }: MovementIds,
): Omit<NoteRecord, 'version'> {
  return { key, until: endOfTime, data: { ids: [...ids], older } }
}

function readNote(note: NoteRecord | undefined): MovementIds {
  const { ids, older } = Object(note?.data)
  return {
    ids: Array.isArray(ids) ? ids.map(String) : [],
    older: typeof older === 'number' ? older : 0,
  }
}
