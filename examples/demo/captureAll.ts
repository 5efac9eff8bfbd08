import { setTimeout } from 'node:timers/promises'
import type { CaptureResult, Orders } from 'countersign/orders'
import type { Shop } from './openShop.js'

/** Orders captured at once, as they went. */
export type Captured = {
  results: readonly CaptureResult[]
  /** From asking for all of them until the last proof was on record. */
  seconds: number
  /** HTTP requests of this process to the node meanwhile. */
  requests: number
}

/** How far a capture of many is, by the shop's events. */
export type Progress = { sent: number; captured: number; total: number }

/** Asks for all captures at once, and tells how far they are. */
export async function captureAll(
  { orders }: Shop,
  {
    orderIds,
    onProgress,
  }: { orderIds: readonly string[]; onProgress(progress: Progress): void },
): Promise<Captured> {
  const { cursor } = await readTo(orders, 0n)
  const requests = countRequests()
  const began = performance.now()
  const following = new AbortController()
  const follower = follow(orders, {
    after: cursor,
    signal: following.signal,
    onProgress: (progress) =>
      onProgress({ ...progress, total: orderIds.length }),
  })
  const capture = (orderId: string) =>
    orders.capture({ orderId, timeout: 600_000 })
  const results = await Promise.all(orderIds.map(capture))
  const seconds = (performance.now() - began) / 1000
  following.abort()
  await follower
  return { results, seconds, requests: requests.stop() }
}

/** Counts what happens from a cursor on, until told to stop. */
async function follow(
  orders: Orders,
  {
    after,
    signal,
    onProgress,
  }: {
    after: bigint
    signal: AbortSignal
    onProgress(progress: Omit<Progress, 'total'>): void
  },
): Promise<void> {
  let seen = { cursor: after, sent: 0, captured: 0 }
  for (let isLast = false; !isLast; ) {
    // What happened until the end is told too.
    isLast = signal.aborted
    const { cursor, sent, captured } = await readTo(orders, seen.cursor)
    seen = {
      cursor,
      sent: seen.sent + sent,
      captured: seen.captured + captured,
    }
    onProgress(seen)
    if (!isLast) await setTimeout(50)
  }
}

async function readTo(
  orders: Orders,
  after: bigint,
): Promise<{ cursor: bigint; sent: number; captured: number }> {
  const counted = { cursor: after, sent: 0, captured: 0 }
  for (;;) {
    const after = counted.cursor
    const { events, cursor } = await orders.events({ after, limit: 1_000 })
    for (const { type } of events)
      if (type === 'capturing') counted.sent++
      else if (type === 'captured') counted.captured++
    if (cursor === counted.cursor) return counted
    counted.cursor = cursor
  }
}

function countRequests(): { stop(): number } {
  const { fetch } = globalThis
  let count = 0
  globalThis.fetch = (...request) => {
    count++
    return fetch(...request)
  }
  return {
    stop: () => {
      globalThis.fetch = fetch
      return count
    },
  }
}
