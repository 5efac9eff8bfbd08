import type { Hash } from 'viem'
import type { LeftOut } from '../../payments/kind.js'
import type { OrderReason } from '../../store/types.js'
import { type Changes, moveOrder, noChanges, withEvent } from './changes.js'
import { afterWork, canReserve } from './earlyAnswer.js'
import { isInFlight } from './rejectOrder.js'
import type { StoredOrder } from './storedOrder.js'

type Asked = Pick<StoredOrder, 'order'>

export type Started = {
  call: 'capture' | 'cancel'
  /** Channels that the transaction of a claim leaves out. */
  leftOut?: readonly LeftOut[] | undefined
}

/** A transaction of ours that captures or cancels was stored, to be sent. */
export function startOrder(
  { order, attempt }: Pick<StoredOrder, 'order' | 'attempt'>,
  { call, leftOut = [] }: Started,
  at: bigint,
): Changes {
  const to = call === 'capture' ? 'capturing' : 'canceling'
  const data = {
    attempt: attempt.number,
    ...(leftOut.length > 0 ? { leftOut } : {}),
  }
  const event = { type: to, at, data } as const
  const fields = { requested: call, sendDue: undefined, reason: undefined }
  const started =
    order.state === 'voided'
      ? withEvent(order, event, fields)
      : moveOrder(order, 'recorded', to, event, fields)
  return { ...noChanges(), orders: [started.order], events: [started.event] }
}

/** There is nothing to send: the submitter does not look at the order again. */
export function endDue({ order }: Asked): Changes {
  const { state, requested } = order
  // The capture will not happen, so end the wait of its caller.
  const left = state === 'stored' ? undefined : requested
  const ended = { ...order, sendDue: undefined, requested: left }
  return { ...noChanges(), orders: [ended] }
}

/**
 * Another row asks for the same movement: its transaction must not be found as
 * the proof of this one.
 */
export function endLooks({ order }: Asked): Changes {
  return { ...noChanges(), orders: [{ ...order, lookDue: undefined }] }
}

/** The submitter could not sign in time, and tries again later. */
export function postponeOrder(
  { order }: Asked,
  { until }: { until: bigint },
): Changes {
  return { ...noChanges(), orders: [{ ...order, sendDue: until }] }
}

/**
 * A transaction without effect takes the nonce of the one that was sent. The
 * reason stays with the order until that is mined.
 */
export function giveUpSending(
  { order }: Asked,
  { reason }: { reason: OrderReason },
): Changes {
  const orders = isInFlight(order) ? [{ ...order, reason }] : []
  return { ...noChanges(), orders }
}

/**
 * The payer made another capture fail. The order is captured only if the
 * merchant calls `capture` again.
 */
export function holdOrder({ order }: Asked, at: bigint): Changes {
  if (!order.payer || order.needsReview || order.state !== 'stored')
    return noChanges()
  // A requested cancellation takes nothing from the payer, so it is still sent.
  if (order.requested === 'cancel') return noChanges()
  const held = withEvent(
    order,
    { type: 'needsReview', at, data: { payer: order.payer } },
    {
      needsReview: true,
      sendDue: undefined,
      requested: undefined,
      reason: order.reason ?? 'needsReview',
    },
  )
  return { ...noChanges(), orders: [held.order], events: [held.event] }
}

/**
 * The pending block shows the capture. This decides nothing: the order stays in
 * flight until a mined block has the capture. A reserved answer may be given.
 */
export function showPreconfirmed(
  { order }: Asked,
  { hash }: { hash: Hash },
  at: bigint,
): Changes {
  if (order.state !== 'capturing') return noChanges()
  const early = order.early === 'reserved' ? 'answered' : order.early
  const isKnown =
    order.finality === 'preconfirmed' && order.settledHash === hash
  if (isKnown && early === order.early) return noChanges()
  if (isKnown) return { ...noChanges(), orders: [{ ...order, early }] }
  const shown = withEvent(
    order,
    { type: 'preconfirmed', at, data: { transactionHash: hash } },
    { finality: 'preconfirmed', settledHash: hash, early },
  )
  return { ...noChanges(), orders: [shown.order], events: [shown.event] }
}

/** An early answer, which counts against the limits from now on. */
export type Reserved = {
  as?: 'reserved' | 'working' | undefined
  /** Name of the limits. */
  name?: string | undefined
}

/** Reserves an early answer if the order can have one. */
export function reserveAnswer(
  { order }: Asked,
  { as = 'reserved', name }: Reserved,
): Changes {
  const orders = canReserve(order)
    ? [{ ...order, early: as, earlyFor: name }]
    : []
  return { ...noChanges(), orders }
}

/** The work that began at `preconfirmed` ended, with an answer or without. */
export function endEarlyWork(
  { order }: Asked,
  { isAnswered }: { isAnswered: boolean },
): Changes {
  const after = afterWork(order, isAnswered)
  return { ...noChanges(), orders: after === order ? [] : [after] }
}
