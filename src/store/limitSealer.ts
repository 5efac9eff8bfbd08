import { endOnAbort } from '../core/onAbort.js'
import { inTime } from '../core/wait.js'
import { SealError, SealerUnavailableError } from './errors.js'
import { isKeyAway } from './isKeyAway.js'
import type { Sealer } from './types.js'

/**
 * Wraps a sealer with a time limit. A call that takes longer fails, and its
 * late result is dropped. Any failure except a {@link SealError} counts as
 * temporary, so that the caller tries this secret later and continues with
 * others.
 *
 * Replaces the errors of the sealer by its own, because they could contain the
 * secret.
 */
export function limitSealer(sealer: Sealer, milliseconds: number): Sealer {
  const late = () => {
    throw new SealerUnavailableError(`did not answer within ${milliseconds} ms`)
  }
  return callThrough(sealer, (call) =>
    inTime(Promise.resolve().then(call), milliseconds, late).catch(throwHidden),
  )
}

/**
 * Wraps a sealer so that its pending calls fail as soon as the signal aborts.
 */
export function endingSealer(sealer: Sealer, signal: AbortSignal): Sealer {
  const reasonOf = () =>
    new SealerUnavailableError('did not answer before the work was stopped')
  return callThrough(sealer, async (call) => {
    if (signal.aborted) throw reasonOf()
    return endOnAbort(call(), signal, reasonOf)
  })
}

/** Wraps a sealer so that each `seal` and `open` runs through one function. */
function callThrough(
  sealer: Sealer,
  through: (call: () => Promise<string>) => Promise<string>,
): Sealer {
  return {
    // Uses getters, because a sealer written by the merchant may change these
    // values later.
    get current() {
      return sealer.current
    },
    get keyNames() {
      return sealer.keyNames
    },
    seal: (secret, context) => through(() => sealer.seal(secret, context)),
    open: (sealed, context) => through(() => sealer.open(sealed, context)),
  }
}

function throwHidden(error: unknown): never {
  if (error instanceof SealError || isKeyAway(error)) throw error
  const { name } = Object(error)
  throw new SealerUnavailableError(
    error instanceof Error ? `failed with a ${name}` : 'failed',
  )
}
