import { observeFailure } from '../records/observeFailure.js'
import type { TargetRun } from '../targets/types.js'

/** Tells that deliveries stand still for another reason than their receiver. */
export function observeStop(run: TargetRun, error: unknown): void {
  const about = { target: run.target.name }
  observeFailure(run, 'outbox.failed', { about, error })
}
