/**
 * What other parts of this package, such as subscriptions and x402, may use of
 * the orders, besides the public entry `countersign/orders`.
 */

export { atRiskLock, type EarlyLimits } from './account/reserveEarly.js'
export type { OrdersContext } from './context/types.js'
export { contextOf } from './contextOf.js'
export { type Instance, watchVerb } from './createInstance.js'
export { clientOf } from './evidence/clientOf.js'
export { findEvidence } from './evidence/findEvidence.js'
export { type ClientGroup, groupByClient } from './evidence/groupByClient.js'
export { describeToken } from './ledger/describeToken.js'
export { endingContext } from './loop/endingContext.js'
export { endOnTime } from './loop/endOnTime.js'
export { hearChanges } from './loop/hearChanges.js'
export type { TaskName } from './loop/putAside.js'
export { apply, applyTaken, rulesOf } from './model/apply.js'
export {
  joinChanges,
  noChanges,
  withEvent,
  writeChanges,
} from './model/changes.js'
export { checkChainClock } from './model/checkChainClock.js'
export { draftedOrder, unsignedAttempt } from './model/draftedRows.js'
export { type AnswerAt, parseAnswerAt } from './model/earlyAnswer.js'
export { findByTransaction } from './model/findByTransaction.js'
export { loadOrder, loadOrders, withRefunds } from './model/loadOrders.js'
export { movementEventOf } from './model/movementEvents.js'
export { paymentOf, sealContextOf } from './model/paymentOf.js'
export { isClockSet, quietIntervalOf } from './model/quietIntervalOf.js'
export { isPaidBack, isRefundable, raiseRefund } from './model/raiseRefund.js'
export { drawSender, paidBy, sendersOf } from './model/sendersOf.js'
export { showOrder } from './model/showOrder.js'
export type { StoredOrder } from './model/storedOrder.js'
export { loadIdentity } from './model/storeState.js'
export { writeCaptureRequests } from './sending/requestCaptures.js'
export { acceptUndrafted } from './verbs/acceptUndrafted.js'
export { auditOrders } from './verbs/auditOrders.js'
export { waitForCapture } from './verbs/captureOrder.js'
export { mostTries } from './verbs/checkAccept.js'
export { checkHead, chooseDestination } from './verbs/draftFacts.js'
export { draftTestOrder } from './verbs/draftOrder.js'
export { endWork } from './verbs/endWork.js'
export { drawBuyerToken, hashBuyerToken } from './verbs/getForBuyer.js'
export { insertDraft, insertOrder } from './verbs/insertOrder.js'
export type { NodeFault } from './verbs/nodeHealth.js'
export { abandonOrder, writeVoid } from './verbs/voidOrder.js'
export { writeGathered } from './verbs/writeGathered.js'
export { findFirstBlock } from './watcher/findFirstBlock.js'
export { settleTransaction } from './watcher/settleTransaction.js'
export { openWatchAsides, type WatchAsides } from './watcher/watchAside.js'
export { watchKey } from './watcher/watchKeys.js'
