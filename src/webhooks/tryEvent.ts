import type { OrderEvent } from '../records/types.js'
import { type PostedWebhook, postWebhook } from '../targets/postWebhook.js'
import type { TargetRun } from '../targets/types.js'
import { webhookMessage } from '../targets/webhookMessage.js'
import { eventFacts } from './eventFacts.js'
import type { EventQueue } from './eventQueues.js'
import type { Outbox } from './openOutbox.js'
import type { ProgressSaver } from './saveProgress.js'
import type { Pace } from './targetPace.js'

type Parts = {
  run: TargetRun
  outbox: Outbox
  saver: ProgressSaver
  pace: Pace
  leave: () => void
}

/** Tries one event once, and takes note of what came of it. */
export async function tryEvent(
  { run, outbox, saver, pace, leave }: Parts,
  { queue, event }: { queue: EventQueue; event: OrderEvent },
): Promise<void> {
  const { target, tools } = run
  const startedAt = performance.now()
  const tries = queue.failures + 1
  const posted = await postWebhook(target, webhookMessage(event), tools)
  const now = performance.now()
  if (posted.ok) {
    outbox.queues.drop(queue)
    outbox.delivered(event)
    pace.succeeded()
    saver.save()
  } else {
    const { retryAfter } = posted
    outbox.queues.delay(queue, now + tools.pause(tries, retryAfter))
    pace.failed({ tries, startedAt, retryAfter })
    // By Standard Webhooks, the receiver takes its subscription back.
    if (posted.status === 410) leave()
  }
  tell(run, event, { posted, tries, duration: now - startedAt })
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
