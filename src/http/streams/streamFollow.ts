import type { News, StreamInbox } from './streamInbox.js'
import type { Following } from './streamReader.js'
import { retryUntil } from './streamRetry.js'
import type { StreamSink } from './streamSink.js'

export type FollowNewsParameters = {
  sink: StreamSink
  inbox: StreamInbox
  following: Following
  /** The cursor of the event sent last. */
  after: bigint
  /** Reads what is on record after a cursor; nothing where that is all. */
  read: (after: bigint) => Promise<readonly News[]>
  tell: (news: News) => Promise<void>
}

/** Milliseconds without news after which the record is read again. */
const lookAgain = 30_000

/**
 * Tells a stream everything after a cursor, once and in order, at the pace of
 * its reader: first what is on record, and then what comes. A stream that falls
 * far behind reads the record again. So does one without news for a while, so
 * that lost news arrive late but are never missed.
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
      // Between record and present the same event may come by both ways.
      if (news.event.cursor <= after) continue
      await tell(news)
      after = news.event.cursor
    }
  }
  while (!sink.ended.aborted) {
    // What is in the box by now was on record before, and is read again.
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
