type Page = { cursor?: string | undefined }

/**
 * Yields pages, and requests the next one by the `cursor` of the last. A page
 * without a cursor is the last.
 */
export async function* loadPages<page extends Page>(
  before: string | undefined,
  load: (cursor: string | undefined) => Promise<page>,
): AsyncGenerator<page, void> {
  let cursor = before
  do {
    const page = await load(cursor)
    yield page
    cursor = page.cursor
  } while (cursor !== undefined)
}
