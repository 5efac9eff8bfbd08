import { InvalidFieldError } from '../../core/errors.js'
import { observeFailure } from '../../core/observeFailure.js'
import { inTime } from '../../core/wait.js'
import type { OrdersContext } from '../context/types.js'
import { OrdersSetupError } from '../model/errors.js'
import { storeKey } from '../model/storeState.js'

/**
 * Result of `liveness` and `readiness`. One of the reasons:
 * - `stopping`: `close` was called
 * - `storeUnavailable`: the store failed, or took longer than 3 seconds
 * - `storeLost`: no call of the store can succeed until the process is
 *   restarted, because another database replaced it, or a newer release
 *   migrated its tables
 * - `wrongSetup`: the configuration contradicts the store; for example, a
 *   sealing key is missing
 */
export type ProbeVerdict = { ok: true } | { ok: false; reason: ProbeFailure }

type ProbeFailure = 'stopping' | 'storeUnavailable' | 'storeLost' | 'wrongSetup'

/** Milliseconds that one look at the store may take. */
const longestLook = 3_000

/** Milliseconds for which the result of a look is used again. */
const freshFor = 1_000

/**
 * Creates `liveness` and `readiness` of `Orders`. They share their looks at the
 * store, so that many probes at the same time cost one look a second.
 */
export function createProbes(
  context: OrdersContext,
  {
    openSealed,
    closing,
  }: { openSealed: () => Promise<void>; closing: AbortSignal },
): Record<'liveness' | 'readiness', () => Promise<ProbeVerdict>> {
  const { store } = context
  let last: { verdict: ProbeVerdict; at: number } | undefined
  let looking: Promise<ProbeVerdict> | undefined
  const failed = (reason: ProbeFailure): ProbeVerdict => ({ ok: false, reason })
  const look = async (): Promise<ProbeVerdict> => {
    try {
      await openSealed()
      await touchStore(context)
      return { ok: true }
    } catch (error) {
      if (closing.aborted) return failed('stopping')
      observeFailure(context, 'readiness.failed', { about: {}, error })
      if (store.lost?.aborted) return failed('storeLost')
      return failed(isSetup(error) ? 'wrongSetup' : 'storeUnavailable')
    }
  }
  // A look that hangs is waited for by all later probes: none begins another.
  const lookInTime = async (): Promise<ProbeVerdict> => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    const late = () => failed('storeUnavailable')
    const verdict = await inTime(looking, longestLook, late)
    last = { verdict, at: performance.now() }
    return verdict
  }
  const readiness = async (): Promise<ProbeVerdict> => {
    if (closing.aborted) return failed('stopping')
    if (store.lost?.aborted) return failed('storeLost')
    if (last && performance.now() - last.at < freshFor) return last.verdict
    return lookInTime()
  }
  return {
    readiness,
    liveness: async () => {
      // Looks at the store without waiting for it, because only a look finds
      // that the store is lost.
      void readiness()
      return !closing.aborted && store.lost?.aborted
        ? failed('storeLost')
        : { ok: true }
    },
  }
}

/**
 * Begins and ends a transaction as a write does, because only a write checks
 * that the tables are of this release. Writes nothing.
 */
async function touchStore({ store }: OrdersContext): Promise<void> {
  if (store.isAttached) await store.read((tables) => tables.getValue(storeKey))
  else await store.write((tables) => tables.getValue(storeKey))
}

function isSetup(error: unknown): boolean {
  return error instanceof OrdersSetupError || error instanceof InvalidFieldError
}
