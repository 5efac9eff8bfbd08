import { wait } from '../core/wait.js'
import { LeaseLostError } from '../store/errors.js'
import { observeStop } from './observeTarget.js'
import { type Progress, writeProgress } from './progress.js'
import type { TargetRun } from './targets/types.js'
import type { LeaseHold } from './underLease.js'

/** Puts on record what is delivered, many at once where they come fast. */
export type ProgressSaver = {
  /** Something was delivered. */
  save(): void
  /** The store does not take it; nothing more should be delivered meanwhile. */
  isStuck(): boolean
  /** All that can be on record is. */
  settled(): Promise<void>
}

export function progressSaver(
  run: TargetRun,
  hold: LeaseHold,
  progress: () => Progress,
): ProgressSaver {
  let isDirty = false
  let failures = 0
  let saving: Promise<void> | undefined
  const saveOnce = async (): Promise<void> => {
    isDirty = false
    try {
      await writeProgress(run, progress(), hold.lease)
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
    save: () => {
      isDirty = true
      saving ??= saveAll()
    },
    isStuck: () => failures > 0,
    settled: async () => saving,
  }
}
