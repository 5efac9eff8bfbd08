import { askShop } from './askShop.js'
import { keepTrying, pause } from './keepTrying.js'
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

/** Without a byte for so long, a stream with a heartbeat of 15 s is dead. */
const silence = 40_000

/**
 * Tells everything that happened to an order and happens, from its beginning,
 * through lost connections, until nothing more can happen.
 *
 * @throws {@link Problem} when there is no such order for this buyer.
 */
export async function followOrder(
  access: OrderAccess,
  { onNews, onReachable, signal }: FollowOrderParameters,
): Promise<void> {
  let lastEventId = '0'
  let isOver = false
  while (!isOver && !signal.aborted) {
    const connection = AbortSignal.any([signal, AbortSignal.timeout(600_000)])
    const { body } = await keepTrying(
      () =>
        askShop(`${pathOf(access)}/events`, {
          token: access.token,
          headers: { 'last-event-id': lastEventId },
          signal: connection,
        }),
      { signal, onReachable },
    )
    try {
      for await (const { id, data } of readEventStream(watchSilence(body))) {
        const { at, ...news } = JSON.parse(data)
        lastEventId = id || lastEventId
        isOver = isSettled(news.order)
        onNews({ ...news, at: Number(at) })
      }
    } catch {
      onReachable(signal.aborted)
    }
    // The stream ends at the grade the shop fulfils at; the last comes later.
    if (!isOver) await pause(700, signal)
  }
}

/** Whether the chain says the same for good. */
function isSettled({ state, transaction }: BuyerOrder): boolean {
  return (
    (state === 'captured' || state === 'canceled') &&
    transaction?.finality === 'finalized'
  )
}

/** Fails where a connection was lost without a word. */
function watchSilence(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  if (!body) return new ReadableStream({ start: (c) => c.close() })
  let timer: ReturnType<typeof setTimeout> | undefined
  const listen = (
    controller: TransformStreamDefaultController<Uint8Array<ArrayBuffer>>,
  ): void => {
    clearTimeout(timer)
    timer = setTimeout(() => controller.error(new Error('silence')), silence)
  }
  return body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      start: listen,
      transform: (chunk, controller) => {
        listen(controller)
        controller.enqueue(chunk)
      },
      flush: () => clearTimeout(timer),
    }),
  )
}
