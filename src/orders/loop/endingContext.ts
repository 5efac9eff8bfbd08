import type { Client } from 'viem'
import { endingClient } from '../../chain/rpc/endingClient.js'
import { endOnAbort } from '../../core/onAbort.js'
import { inTime } from '../../core/wait.js'
import { endingSealer } from '../../store/limitSealer.js'
import type { OrdersContext } from '../context/types.js'

/** Milliseconds that nodes have to answer after the work was asked to end. */
export const lastAnswers = 3000

/**
 * Milliseconds after that in which the database has to finish the current
 * write.
 */
export const lastWrites = 2000

/**
 * Waits for work that was asked to end. After 3 seconds calls `letGo`, so that
 * the work no longer waits for nodes. Stops waiting 2 seconds later.
 */
export async function finishOnTime(
  running: Promise<void>,
  letGo: () => void,
): Promise<void> {
  const late = setTimeout(letGo, lastAnswers)
  await inTime(running, lastAnswers + lastWrites, () => undefined).finally(() =>
    clearTimeout(late),
  )
}

/**
 * Copies a context. In the copy, requests to nodes and to the sealer end when
 * the signal aborts.
 */
export function endingContext(
  context: OrdersContext,
  signal: AbortSignal,
): OrdersContext {
  const ending = <one extends { client: Client }>(one: one): one => ({
    ...one,
    client: endingClient(one.client, signal),
  })
  return {
    ...context,
    get policy() {
      return context.policy
    },
    get recipients() {
      return context.recipients
    },
    get destinations() {
      return context.destinations
    },
    signal,
    sealer: endingSealer(context.sealer, signal),
    tokens: context.tokens.map(ending),
    wallets: context.wallets.map(ending),
  }
}

/**
 * Runs work that ends when the context's signal aborts: drops open requests to
 * nodes and sends no more. Completes a write that has begun.
 * @throws the signal's reason as soon as it aborts.
 */
export async function underSignal<result>(
  context: OrdersContext,
  work: (context: OrdersContext) => Promise<result>,
): Promise<result> {
  const { signal } = context
  if (!signal) return work(context)
  signal.throwIfAborted()
  return endOnAbort(work(endingContext(context, signal)), signal)
}
