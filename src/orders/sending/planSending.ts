import type { SendingCosts } from '../../chain/state/getSubmitterHead.js'
import type { AttemptRecord, OrderReason } from '../../store/types.js'
import type { SubmitterView } from '../account/getSubmitterView.js'
import type { Broadcasts, InFlight } from '../account/inFlight.js'
import type { OrderMemory } from '../account/orderMemory.js'
import { choosesNonce, type NonceChoice } from '../account/submitterState.js'
import type { WalletMemory } from '../account/walletMemory.js'
import type { OrderWallet } from '../context/types.js'
import { endsOf, lastSecondOf } from '../model/endsOf.js'
import { traitsOf } from '../model/roles.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { SettledPolicy } from '../model/types.js'
import type { SubmitterFees } from './feesOf.js'

/**
 * Base and its test chain. Their nodes accept 4 pending transactions of an
 * account with code; Geth and Reth accept one.
 */
const baseChains: readonly number[] = [8453, 84532]

/** Returns how many more transactions the submitter may have in flight. */
export function roomOf(
  submitter: NonceChoice & {
    wallet: Pick<OrderWallet, 'submitter'>
    inFlight: Pick<InFlight, 'rows' | 'hasCode'>
    broadcasts: Pick<Broadcasts, 'admitted'>
    walletMemory: Pick<WalletMemory, 'passedOver'>
  },
  { maxInFlight }: Pick<SettledPolicy, 'maxInFlight'>,
): number {
  // A wallet that sends by itself may choose other account nonces than ours.
  // Until it has used one that we gave it, send only one transaction at a time.
  const { inFlight, broadcasts, walletMemory, wallet } = submitter
  const mostOfCode = baseChains.includes(wallet.submitter.chainId) ? 4 : 1
  const isSingle = !choosesNonce(submitter)
  const limit = inFlight.hasCode ? mostOfCode : maxInFlight
  const most = isSingle ? 1 : Math.min(limit, maxInFlight)
  const nonces = new Set(inFlight.rows.map(({ nonce }) => nonce))
  const taken = [...nonces].filter((one) => !walletMemory.passedOver.has(one))
  return Math.max(0, Math.min(most, broadcasts.admitted) - taken.length)
}

/**
 * Why a due order is not sent. Without a reason, there is nothing left to send.
 */
type Unsendable = { reason: OrderReason | undefined }

/**
 * Checks by the stored facts whether a due order may be sent. Returns why not,
 * or `undefined` if it may.
 */
export function judgeSending(
  {
    order,
    attempt,
    attempts = [],
  }: StoredOrder & { attempts?: readonly AttemptRecord[] | undefined },
  { timestamp }: Pick<SubmitterView['head'], 'timestamp'>,
  { safetyMargin }: Pick<SettledPolicy, 'safetyMargin'>,
): Unsendable | undefined {
  const { state, needsReview, requested } = order
  const secret =
    requested === 'cancel' ? attempt.cancellation : attempt.signature
  const isOpen =
    state === 'stored' || (state === 'voided' && requested === 'cancel')
  // Only a capture waits for the merchant's review; a cancellation is sent
  // anyway.
  const isInReview = needsReview && requested !== 'cancel'
  if (!isOpen || isInReview || requested === 'void')
    return { reason: undefined }
  // The signature was erased when a final block settled the order. A reorg then
  // undid that block, so the order cannot be sent again.
  if (secret === undefined) return { reason: 'sealBroken' }
  const end = endsOf(attempt)[requested === 'cancel' ? 'cancel' : 'capture']
  if (timestamp >= end) return { reason: 'expired' }
  // A reorg can make the payment of an older attempt valid again. Then both
  // payments could be captured, so send neither now.
  const isPayable = (one: AttemptRecord) =>
    one.number < attempt.number &&
    one.spendable &&
    lastSecondOf(one) > timestamp
  if (requested !== 'cancel' && attempts.some(isPayable))
    return { reason: 'otherPayment' }
  return timestamp + safetyMargin >= end
    ? { reason: 'deadlinePassed' }
    : undefined
}

/**
 * Returns when to try a refused order again, in Unix seconds of the chain. A
 * capture by the policy and the revocation of a spend permission are tried
 * again after growing pauses, until their window ends. A capture that you
 * requested and a buyer's cancellation are not. Updates the pauses.
 */
export function againAt(
  { orders }: { orders: Pick<OrderMemory, 'nextPause'> },
  { order, attempt }: StoredOrder,
  reason: OrderReason,
  now: bigint,
  { capture, safetyMargin }: Pick<SettledPolicy, 'capture' | 'safetyMargin'>,
): bigint | undefined {
  const { isPaidByUs, isScheduled } = traitsOf(order)
  const isManual =
    order.total === 'atMost' || (capture === 'manual' && !isPaidByUs)
  const isCancel =
    order.requested === 'cancel' || (isScheduled && order.state === 'canceling')
  if (isScheduled ? !isCancel : isManual || isCancel) return undefined
  if (order.needsReview || finalReasons.includes(reason)) return undefined
  const opens = (attempt.signedAfter ?? attempt.validAfter) + 1n
  const again =
    reason === 'notYetValid' && opens > now
      ? opens
      : now + orders.nextPause(order.id, now)
  const end = endsOf(attempt)[isCancel ? 'cancel' : 'capture']
  return again + safetyMargin >= end ? undefined : again
}

/**
 * Reasons that make a new try useless, because the payment itself would have to
 * change.
 */
const finalReasons: readonly OrderReason[] = [
  'expired',
  'deadlinePassed',
  'consumed',
  'malformedSignature',
  'wrongSubmitter',
  'selfPayment',
]

/**
 * Returns the units of gas that the submitter's balance still covers, besides
 * its transactions in flight; less than 0 if it does not cover those.
 */
export function gasLeftOf(
  { inFlight }: { inFlight: Pick<InFlight, 'rows'> },
  { balance }: Pick<SendingCosts, 'balance'>,
  { maxFeePerGas }: Pick<SubmitterFees, 'maxFeePerGas'>,
): bigint {
  const dearest = new Map<number, bigint>()
  for (const row of inFlight.rows) {
    const cost = row.gas * row.maxFeePerGas
    const known = dearest.get(row.nonce) ?? 0n
    dearest.set(row.nonce, cost > known ? cost : known)
  }
  let left = balance
  for (const cost of dearest.values()) left -= cost
  if (left < 0n) return -1n
  return maxFeePerGas > 0n ? left / maxFeePerGas : endless
}

/** More gas than any transactions need. */
const endless = 2n ** 64n

/** Returns how many of these transactions, by their gas, can be paid for. */
export function canPay(more: readonly bigint[], gasLeft: bigint): number {
  let left = gasLeft
  const unpaid = more.findIndex((gas) => {
    left -= gas
    return left < 0n
  })
  return unpaid < 0 ? more.length : unpaid
}
