import { askShop } from './askShop.js'
import { keepTrying, pause } from './keepTrying.js'
import { Problem } from './Problem.js'
import { type BuyerOrder, type OrderAccess, pathOf } from './payments.js'
import { readEventStream } from './readEventStream.js'

export type OrderNews = {
  type: string
  /** Unix milliseconds. */
  at: number
  order: BuyerOrder
}

export type FollowOrderParameters = {
  onNews: (news: OrderNews) => void
  onReachable: (isReachable: boolean) => void
  signal: AbortSignal
}

/** Milliseconds at most until a stream is opened again. */
const slowest = 5_000

/** The server sends a sign of life every 15 s. */
const silence = 40_000

/**
 * Tells everything that happened to an order and happens, from its beginning,
 * through lost connections, until nothing more can happen.
 *
 * @throws {@link Problem} when there is no such order for this buyer.
 */
export async function followOrder(
  access: OrderAccess,
  parameters: FollowOrderParameters,
): Promise<void> {
  const { onNews, onReachable, signal } = parameters
  let lastEventId = '0'
  let isOver = false
  let quiet = 0
  while (!isOver && !signal.aborted) {
    try {
      const read = { ...parameters, lastEventId }
      await readOnce(access, read, ({ id, data }) => {
        const { at, ...news } = JSON.parse(data)
        lastEventId = id ?? lastEventId
        isOver = isSettled(news.order)
        if (news.type !== 'status') quiet = 0
        onNews({ ...news, at: Number(at) })
      })
    } catch (error) {
      // Anything else may pass; an order that is not there stays so.
      if (error instanceof Problem && error.status === 404) throw error
      onReachable(signal.aborted)
    }
    // The stream ends at the finality the shop fulfils at; the last comes later.
    if (!isOver) await pause(Math.min(slowest, 700 * 2 ** quiet), signal)
    quiet += 1
  }
}

/** One connection, until it ends, breaks or falls silent. */
async function readOnce(
  access: OrderAccess,
  { lastEventId, ...options }: FollowOrderParameters & { lastEventId: string },
  tell: (event: { id: string | undefined; data: string }) => void,
): Promise<void> {
  const watch = new AbortController()
  const signal = AbortSignal.any([options.signal, watch.signal])
  const { token } = access
  const headers = { 'last-event-id': lastEventId }
  const { body } = await keepTrying(
    () => askShop(`${pathOf(access)}/events`, { token, headers, signal }),
    options,
  )
  if (!body) return
  let timer = setTimeout(() => watch.abort(), silence)
  try {
    for await (const event of readEventStream(body)) {
      clearTimeout(timer)
      timer = setTimeout(() => watch.abort(), silence)
      if (event.data) tell(event)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the chain says the same for good. */
function isSettled({ state, transaction }: BuyerOrder): boolean {
  return (
    (state === 'captured' || state === 'canceled') &&
    transaction?.finality === 'finalized'
  )
}
