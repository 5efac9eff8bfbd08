import { ask, readAnswer } from './ask.js'
import type { AbortOptions } from './BuyerClient.js'
import type { Line } from './line.js'

type Page = { cursor?: string | undefined }

/**
 * Yields pages, and requests the next one by the `cursor` of the last. A page
 * without a cursor is the last.
 *
 * @throws {@link ServerError} when a cursor comes again: the list would never
 * end.
 */
export async function* loadPages<page extends Page>(
  line: Line,
  { before, signal }: AbortOptions & { before?: string | undefined },
  pathOf: (cursor: string | undefined) => string,
): AsyncGenerator<page, void> {
  const seen = new Set<string | undefined>()
  let cursor = before
  do {
    const path = pathOf(cursor)
    const page = await ask<page>(line, { path, signal })
    seen.add(cursor)
    cursor = readAnswer(line, path, () => newCursor(page, seen))
    yield page
  } while (cursor !== undefined)
}

function newCursor(
  { cursor }: Page,
  seen: ReadonlySet<string | undefined>,
): string | undefined {
  if (cursor === undefined) return undefined
  if (typeof cursor !== 'string' || seen.has(cursor)) throw new SyntaxError()
  return cursor
}
