import { wait } from '../../core/wait.js'
import type { Order, Orders } from '../../orders/index.js'
import type { News, StreamInbox } from './streamInbox.js'
import { retryUntil, tryInTime } from './streamRetry.js'

/** Reads new events from the database, once for all open streams. */
export type StreamReader = {
  /**
   * Puts new events of these orders or recipients into the inbox. Calls
   * `onLost` when reading fails with an error that no retry can mend.
   */
  follow(
    keys: readonly string[],
    inbox: StreamInbox,
    onLost: () => void,
  ): Following
  /**
   * Starts reading again if the last read was over 10 s ago, for example
   * because a request to the database got no answer.
   */
  revive(): void
}

export type Following = {
  /**
   * Resolves when reading has begun. The inbox gets only later events, so load
   * earlier ones from the database.
   */
  started: Promise<void>
  stop: () => void
}

/**
 * Milliseconds between two reads: `least` after new events, then growing to
 * `most`.
 */
const pauses = { least: 25, most: 100 }

/**
 * Milliseconds since the last read after which `revive` starts the reading
 * again.
 */
const standstill = 10_000

export function startReader(
  orders: Pick<Orders, 'events' | 'get'>,
): StreamReader {
  const inboxes = new Map<string, Set<StreamInbox>>()
  const losers = new Set<() => void>()
  let running: AbortController | undefined
  let started: Promise<void> = Promise.resolve()
  let tellStarted: () => void = () => undefined
  let cursor: bigint | undefined
  let lookedAt = 0

  const hand = (news: News) => {
    for (const key of keysOf(news))
      for (const inbox of inboxes.get(key) ?? []) inbox.put(news)
  }
  const run = async (ended: AbortSignal) => {
    const latest = () => orders.events({ after: 'latest' })
    const first = cursor ?? (await retryUntil(ended, latest))?.cursor
    if (ended.aborted) return
    cursor = first
    tellStarted()
    let pause = pauses.most
    while (cursor !== undefined) {
      const all = await retryUntil(ended, readFrom(cursor))
      if (!all || ended.aborted) return
      lookedAt = performance.now()
      for (const news of all) hand(news)
      cursor = all.at(-1)?.event.cursor ?? cursor
      pause = all.length ? pauses.least : Math.min(pauses.most, pause * 2)
      await wait(pause, ended)
      if (ended.aborted) return
    }
  }
  const readFrom = (after: bigint) => async () =>
    showNews(orders, (await orders.events({ after, limit: 1_000 })).events)
  const start = () => {
    running?.abort()
    running = new AbortController()
    lookedAt = performance.now()
    const { signal } = running
    run(signal).catch(() => {
      if (!signal.aborted) for (const lose of [...losers]) lose()
    })
  }
  const stop = () => {
    running?.abort()
    running = undefined
    cursor = undefined
  }
  return {
    follow: (keys, inbox, onLost) => {
      for (const key of keys) addTo(inboxes, key, inbox)
      losers.add(onLost)
      if (!running) {
        started = new Promise((resolve) => {
          tellStarted = resolve
        })
        start()
      }
      return {
        started,
        stop: () => {
          for (const key of keys) removeFrom(inboxes, key, inbox)
          losers.delete(onLost)
          if (inboxes.size === 0) stop()
        },
      }
    },
    revive: () => {
      if (running && performance.now() - lookedAt > standstill) start()
    },
  }
}

/**
 * Adds to each event a function that loads its order, at most once per order.
 */
export function showNews(
  orders: Pick<Orders, 'get'>,
  events: readonly News['event'][],
): News[] {
  const read = new Map<string, Promise<Order>>()
  return events.map((event) => ({
    event,
    getOrder: () => {
      const orderId = event.orderId ?? ''
      const known = read.get(orderId)
      if (known) return known
      const order = tryInTime(orders.get({ orderId }))
      read.set(orderId, order)
      order.catch(() => read.delete(orderId))
      return order
    },
  }))
}

export const orderKey = (orderId: string): string => `order ${orderId}`

export const recipientKey = (recipient: string): string =>
  `recipient ${recipient.toLowerCase()}`

function keysOf({ event: { orderId, recipient } }: News): string[] {
  const own = recipientKey(recipient)
  return orderId === undefined ? [own] : [own, orderKey(orderId)]
}

function addTo<value>(
  map: Map<string, Set<value>>,
  key: string,
  value: value,
): void {
  map.set(key, (map.get(key) ?? new Set()).add(value))
}

function removeFrom<value>(
  map: Map<string, Set<value>>,
  key: string,
  value: value,
): void {
  const values = map.get(key)
  values?.delete(value)
  if (values?.size === 0) map.delete(key)
}
