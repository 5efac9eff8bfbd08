import { wait } from '../core/wait.js'
import { LeaseLostError } from '../store/errors.js'
import { observeStop } from './observeTarget.js'
import { type LastFailure, type Progress, writeProgress } from './progress.js'
import type { TargetRun } from './targets/types.js'
import type { LeaseHold } from './underLease.js'

/**
 * Saves how far the deliveries have come. Combines several deliveries in quick
 * succession into one write.
 */
export type ProgressSaver = {
  /**
   * Saves the progress soon. Call it after an event was delivered or skipped, or
   * with the failure of a delivery.
   */
  save(failure?: LastFailure | undefined): void
  /**
   * True while saving fails. Deliver nothing then: after a crash, everything
   * that is not saved is delivered again.
   */
  isStuck(): boolean
  /**
   * Resolves when all progress is saved, or when saving has failed and the run
   * is over.
   */
  settled(): Promise<void>
}

export function progressSaver(
  run: TargetRun,
  hold: LeaseHold,
  progress: () => Progress,
): ProgressSaver {
  let isDirty = false
  let failure: LastFailure | undefined
  let failures = 0
  let saving: Promise<void> | undefined
  const saveOnce = async (): Promise<void> => {
    isDirty = false
    const saved = failure
    try {
      await writeProgress(run, progress(), { lease: hold.lease, failure })
      if (failure === saved) failure = undefined
      failures = 0
    } catch (error) {
      isDirty = true
      failures++
      if (error instanceof LeaseLostError) hold.lose()
      observeStop(run, error)
      await wait(run.tools.pause(failures), hold.over)
    }
  }
  const saveAll = async (): Promise<void> => {
    while (isDirty && !(hold.over.aborted && failures > 0)) await saveOnce()
    saving = undefined
  }
  return {
    save: (latest) => {
      isDirty = true
      failure = latest ?? failure
      saving ??= saveAll()
    },
    isStuck: () => failures > 0,
    settled: async () => saving,
  }
}
