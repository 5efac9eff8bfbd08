import { growingPause, keepTrying } from '../../core/keepTrying.js'
import type { ExchangeNote, GateContext, WorkEnd } from './types.js'

/** Milliseconds between two tries to store the handler's result. */
const pauses = { shortest: 50, longest: 2_000 }

/**
 * Stores the handler's result. Tries again while the database or the key
 * service does not answer, for up to the gate's `timeout`. If all tries fail,
 * this process keeps the result in memory, and the next request with the same
 * payment stores it.
 *
 * @throws the last failure of `store`.
 */
export async function storeEnd<result>(
  { context, timeout, unstored }: GateContext,
  work: WorkEnd,
  store: () => Promise<result>,
): Promise<result> {
  const { note } = work
  const end = performance.now() + timeout
  unstored.delete(note.key)
  try {
    return await keepTrying(store, (_, failures) => {
      const left = end - performance.now()
      return left > 0
        ? Math.min(left, growingPause(failures, pauses))
        : undefined
    })
  } catch (error) {
    for (const [key, other] of unstored)
      if (other.note.until < context.now()) unstored.delete(key)
    unstored.set(note.key, work)
    throw error
  }
}

/** Returns the handler's result if this process could not store it yet. */
export function findUnstored(
  { unstored }: Pick<GateContext, 'unstored'>,
  { key, version }: ExchangeNote,
): WorkEnd | undefined {
  const found = unstored.get(key)
  return found?.note.version === version ? found : undefined
}
