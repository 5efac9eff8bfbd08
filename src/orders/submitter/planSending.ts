import type { AttemptRecord } from '../../store/types.js'
import { endsOf, lastSecondOf } from '../model/endsOf.js'
import type { OrderFile } from '../model/settleOrder.js'
import type { SettledPolicy } from '../model/types.js'
import type { LaneFees } from './feesOf.js'
import { choosesNonce, type LaneState } from './laneState.js'
import { nextPause } from './nextPause.js'
import type { LaneView } from './readLane.js'

/** How many more transactions the lane may have in flight. Pure. */
export function roomOf(
  lane: Pick<
    LaneState,
    'open' | 'hasCode' | 'value' | 'window' | 'wallet' | 'asked'
  >,
  { maxInFlight }: Pick<SettledPolicy, 'maxInFlight'>,
): number {
  // One at a time until the wallet has used a nonce that we gave it.
  const most = lane.hasCode || !choosesNonce(lane) ? 1 : maxInFlight
  const nonces = new Set(lane.open.map(({ nonce }) => nonce))
  const inFlight = [...nonces].filter(
    (one) => !lane.asked.passedOver.has(one),
  ).length
  return Math.max(0, Math.min(most, lane.window) - inFlight)
}

/** Why an order that is due is not sent; none where there is nothing to send. */
type Unsendable = { reason: string | undefined }

/** Judges an order that is due by its record. Pure. */
export function judgeDue(
  {
    order,
    attempt,
    attempts = [],
  }: OrderFile & { attempts?: readonly AttemptRecord[] | undefined },
  { timestamp }: Pick<LaneView['head'], 'timestamp'>,
  { safetyMargin }: Pick<SettledPolicy, 'safetyMargin'>,
): Unsendable | undefined {
  const { state, held, wish } = order
  const secret = wish === 'cancel' ? attempt.cancellation : attempt.signature
  const isOpen = state === 'stored' || (state === 'voided' && wish === 'cancel')
  // What waits for the merchant is only the capture.
  const isHeld = held && wish !== 'cancel'
  if (!isOpen || isHeld || wish === 'void') return { reason: undefined }
  // Erased when the order was final, which a reorganization took back.
  if (secret === undefined) return { reason: 'sealBroken' }
  const end = endsOf(attempt)[wish === 'cancel' ? 'cancel' : 'capture']
  if (timestamp >= end) return { reason: 'expired' }
  // A reorganization took back what ended it: both could be paid.
  const isPayable = (one: AttemptRecord) =>
    one.number < attempt.number && one.open && lastSecondOf(one) > timestamp
  if (wish !== 'cancel' && attempts.some(isPayable))
    return { reason: 'otherPayment' }
  return timestamp + safetyMargin >= end
    ? { reason: 'deadlinePassed' }
    : undefined
}

/**
 * When a refused order is tried again: what the merchant asked for once is not,
 * what a policy wants is until its window ends, after pauses that grow. Pure
 * except that it updates the pauses.
 */
export function againAt(
  { pauses }: Pick<LaneState, 'pauses'>,
  { order, attempt }: OrderFile,
  reason: string,
  now: bigint,
  { capture, safetyMargin }: Pick<SettledPolicy, 'capture' | 'safetyMargin'>,
): bigint | undefined {
  if (capture === 'manual' || order.wish === 'cancel') return undefined
  if (order.held || finalReasons.includes(reason)) return undefined
  const opens = (attempt.signedAfter ?? attempt.validAfter) + 1n
  const again =
    reason === 'notYetValid' && opens > now
      ? opens
      : now + nextPause(pauses, order.id, now)
  const end = endsOf(attempt).capture
  return again + safetyMargin >= end ? undefined : again
}

/** What does not change as long as the payment is the same. */
const finalReasons: readonly string[] = [
  'expired',
  'deadlinePassed',
  'consumed',
  'malformedSignature',
  'wrongSender',
  'selfPayment',
]

/** Whether a lane can pay for one transaction more. Pure. */
export function canPay(
  { open }: Pick<LaneState, 'open'>,
  { balance }: Pick<LaneView, 'balance'>,
  more: readonly bigint[],
  { maxFeePerGas }: LaneFees,
): number {
  const dearest = new Map<number, bigint>()
  for (const row of open) {
    const cost = row.gas * row.maxFeePerGas
    const known = dearest.get(row.nonce) ?? 0n
    dearest.set(row.nonce, cost > known ? cost : known)
  }
  let left = balance
  for (const cost of dearest.values()) left -= cost
  let paid = 0
  for (const gas of more) {
    left -= gas * maxFeePerGas
    if (left < 0n) break
    paid++
  }
  return paid
}
