import type { News, StreamInbox } from './streamInbox.js'
import type { Following } from './streamReader.js'
import { retryUntil } from './streamRetry.js'
import type { StreamSink } from './streamSink.js'

export type FollowNewsParameters = {
  sink: StreamSink
  inbox: StreamInbox
  following: Following
  /** Cursor of the last event that was sent. */
  after: bigint
  /**
   * Loads the events after a cursor, one page at a time. An empty page means
   * there are no more.
   */
  read: (after: bigint) => Promise<readonly News[]>
  tell: (news: News) => Promise<void>
}

/** Milliseconds without an event after which the database is read again. */
const lookAgain = 30_000

/**
 * Sends every event after a cursor once and in order, as fast as the client
 * reads. Takes events first from the database, then from the inbox in memory.
 * Reads the database again when the inbox overflowed, and after 30 s without
 * events, so that an event that the inbox missed arrives late but is not lost.
 */
export async function followNews(
  parameters: FollowNewsParameters,
): Promise<void> {
  const { sink, inbox, following, read, tell } = parameters
  let { after } = parameters
  await Promise.race([following.started, aborted(sink.ended)])
  const tellAll = async (all: readonly News[]) => {
    for (const news of all) {
      await sink.waitForRoom()
      if (sink.ended.aborted) return
      // The same event can come from the database and from the inbox. Skip it
      // if it was sent before.
      if (news.event.cursor <= after) continue
      await tell(news)
      after = news.event.cursor
    }
  }
  while (!sink.ended.aborted) {
    // No event is lost by clearing the inbox: the database has them all, and
    // the next line reads it.
    inbox.clear()
    const page = (await retryUntil(sink.ended, () => read(after))) ?? []
    await tellAll(page)
    if (page.length) continue
    while (!sink.ended.aborted && !inbox.hasMissed()) {
      const taken = await inbox.take(lookAgain)
      if (taken.length === 0) break
      await tellAll(taken)
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
