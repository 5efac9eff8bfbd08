import type { OrderEvent } from '../orders/index.js'
import type { EventQueue, EventQueues } from './eventQueues.js'
import { eventFacts } from './observeTarget.js'
import type { Outbox } from './openOutbox.js'
import type { ProgressSaver } from './saveProgress.js'
import type { TargetPace } from './targetPace.js'
import { type PostedWebhook, postWebhook } from './targets/postWebhook.js'
import type { TargetRun } from './targets/types.js'
import { webhookMessage } from './targets/webhookMessage.js'

type Parts = {
  run: TargetRun
  outbox: Pick<Outbox, 'fillQueue' | 'delivered'>
  queues: EventQueues
  saver: Pick<ProgressSaver, 'save'>
  pace: TargetPace
  leave: () => void
}

/**
 * Sends the first event of an order's queue once, and records whether the
 * receiver accepted it.
 */
export async function tryQueue(parts: Parts, queue: EventQueue): Promise<void> {
  const { outbox, queues, saver } = parts
  await outbox.fillQueue(queue)
  const [event] = queue.events
  if (!event) {
    queues.release(queue)
    return saver.save()
  }
  const isDelivered = await tryEvent(parts, { queue, event })
  if (!isDelivered) return
  try {
    // Loads the queue's next event before saving, so that the saved progress
    // shows it as undelivered.
    await outbox.fillQueue(queue)
    queues.release(queue)
  } finally {
    saver.save()
  }
}

async function tryEvent(
  { run, outbox, queues, saver, pace, leave }: Parts,
  { queue, event }: { queue: EventQueue; event: OrderEvent },
): Promise<boolean> {
  const { target, tools } = run
  const { type } = event
  const startedAt = performance.now()
  const tries = queue.failures + 1
  const posted = await postWebhook(target, webhookMessage(event), tools)
  const now = performance.now()
  if (posted.ok) {
    queues.drop(queue)
    outbox.delivered(event)
    pace.succeeded()
  } else {
    const { reason, status, retryAfter } = posted
    saver.save({ at: BigInt(Date.now()), reason, status })
    queues.delay(queue, now + tools.pause(tries, retryAfter))
    pace.failed({ type, tries, startedAt, status, retryAfter })
    // By Standard Webhooks, a receiver answers 410 when it wants no more
    // events.
    if (status === 410) leave()
  }
  tell(run, event, { posted, tries, duration: now - startedAt })
  return posted.ok
}

function tell(
  run: TargetRun,
  event: OrderEvent,
  facts: { posted: PostedWebhook; tries: number; duration: number },
): void {
  const { posted, tries, duration } = facts
  const { ok, status } = posted
  run.observe({
    name: ok ? 'webhook.delivered' : 'webhook.failed',
    duration,
    attributes: {
      ...eventFacts(run, event),
      tries,
      ...(status !== undefined && { status }),
      ...(!posted.ok && { reason: posted.reason }),
    },
  })
}
