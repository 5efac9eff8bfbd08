import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError } from '../../core/errors.js'
import { startLoop } from '../../core/loop.js'
import { observeFailure } from '../../core/observeFailure.js'
import { onAbort } from '../../core/onAbort.js'
import {
  type LoopState,
  type TrackedLoops,
  trackLoops,
  working,
} from '../../core/untilIdle.js'
import {
  type ClientGroup,
  endingContext,
  endOnTime,
  groupByClient,
  hearChanges,
  quietIntervalOf,
} from '../../orders/engine.js'
import type { ChannelsContext } from './context.js'
import { lookAtChannels, openMemory } from './lookAtChannels.js'

/** Parameters of `run`. */
export type RunChannelsParameters = {
  /** Ends the work after the current writes. */
  signal: AbortSignal
}

/** Milliseconds between two passes, by default. */
const usualPause = 1000

/**
 * Longest milliseconds without a look at announced withdrawals, and at claims
 * that are due.
 */
const longestRest = 15_000

/** Longest pause after failures in a row, in milliseconds. */
const longestPause = 30_000

/** Implements `run` of `Channels`: one loop for each client. */
export async function runChannels(
  channels: ChannelsContext,
  parameters: RunChannelsParameters,
): Promise<void> {
  checkMembers(parameters, ['signal'])
  const { signal } = parameters
  if (typeof Object(signal).addEventListener !== 'function')
    throw new InvalidFieldError('signal', signal, 'an AbortSignal')
  const { context, instance } = channels
  const { stopping } = instance.drive()
  const loops = trackLoops(signal)
  await endOnTime(
    [signal, stopping],
    async ({ ending, letGo }) => {
      const own = { ...channels, context: endingContext(context, letGo) }
      const groups = groupByClient(context)
      const running = groups.map((group) =>
        runGroup(own, group, { ending, loops }),
      )
      loops.complete()
      await Promise.all(running)
    },
    context.store.lost,
  )
}

async function runGroup(
  channels: ChannelsContext,
  group: ClientGroup,
  { ending, loops }: { ending: AbortSignal; loops: TrackedLoops },
): Promise<void> {
  const { context, instance } = channels
  const { policy, store, observe } = context
  const { chainId } = group
  const interval = policy.pollingInterval ?? usualPause
  const quiet = quietIntervalOf(policy, { chainId, interval })
  const memory = openMemory()
  let isFailed = false
  const loop = startLoop(
    {
      look: async () => {
        await instance.openSealed()
        await lookAtChannels(channels, group, memory)
        isFailed = false
        return memory.known.size > 0 ? interval : quiet
      },
      failed: (error, failures) => {
        isFailed = true
        const about = { chainId }
        observeFailure({ observe }, 'channels.failed', { about, error })
        return Math.min(interval * 2 ** failures, longestPause)
      },
      // Another process may have opened a channel.
      woken: async () => {
        const [added] = await store.read(({ channels }) =>
          channels.find({
            watched: group.destinations(),
            after: memory.after,
            limit: 1,
          }),
        )
        return added ? 0 : Number.POSITIVE_INFINITY
      },
    },
    ending,
  )
  const state = (): LoopState => {
    const nextLook = loop.nextLook()
    if (nextLook === 0) return working
    const isIdle = !isFailed && memory.stale.size === 0
    return isIdle
      ? { nextLook: performance.now() + Math.min(quiet, longestRest), isIdle }
      : { nextLook, isIdle }
  }
  loops.add({ state, wake: loop.wake })
  const forget = hearChanges(store, { listener: loop.wake })
  if (ending.aborted) forget()
  else onAbort(ending, forget)
  await loop.ended
}
