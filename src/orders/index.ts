export type { Observation } from '../core/observeFailure.js'
export { createOrders } from './createOrders.js'
export type { DestinationOrders } from './DestinationOrders.js'
export { toCsv } from './ledger/toCsv.js'
export { toHledger } from './ledger/toHledger.js'
export { toJsonLines } from './ledger/toJsonLines.js'
export type {
  LedgerParameters,
  LedgerRow,
  LedgerRowType,
} from './ledger/types.js'
export type { AnswerAt } from './model/earlyAnswer.js'
export {
  CursorAheadError,
  OrderNotFoundError,
  OrdersSetupError,
  ProofConflictError,
  RefundNotFoundError,
  TransitionError,
} from './model/errors.js'
export type {
  OrderEvent,
  OrderEventData,
  OrderEventType,
} from './model/orderEvents.js'
export {
  type RefundNonceParameters,
  refundNonce,
} from './model/refundNonce.js'
export type {
  Refund,
  RefundFailure,
  RefundReason,
  RefundRefusal,
  RefundState,
} from './model/refundTypes.js'
export type {
  AcceptRefundVerdict,
  RefundToSignVerdict,
  RefundVerdict,
} from './model/refundVerdicts.js'
export type {
  SettledCancellation,
  SettledCapture,
} from './model/settledTypes.js'
export type {
  AcceptRefusal,
  AcceptVerdict,
  AnyDraftedPayment,
  CancellationToSignVerdict,
  CancellationVerdict,
  CaptureRefusal,
  CaptureResult,
  CreateOrdersParameters,
  DraftedMessage,
  DraftedOrder,
  DraftedPayment,
  MostAtRisk,
  Order,
  OrdersPolicy,
  OrderToken,
  ReauthorizeVerdict,
  VoidVerdict,
} from './model/types.js'
export type { Orders, WithinParameters } from './Orders.js'
export type { RunWorkerParameters } from './runWorker.js'
export type { AcceptCancellationParameters } from './verbs/acceptCancellation.js'
export type { AcceptPaymentParameters } from './verbs/acceptPayment.js'
export type { AcceptRefundParameters } from './verbs/acceptRefund.js'
export type {
  AuditParameters,
  AuditReport,
  DestinationAudit,
} from './verbs/auditOrders.js'
export type { AuditDifference, AuditSum } from './verbs/auditRange.js'
export type { CancellationToSignParameters } from './verbs/cancellationToSign.js'
export type { CaptureOrderParameters } from './verbs/captureOrder.js'
export type {
  DraftOrderParameters,
  ExactDraftParameters,
} from './verbs/draftFacts.js'
export type {
  GetForBuyerParameters,
  OrderForBuyer,
} from './verbs/getForBuyer.js'
export type {
  DestinationHealth,
  OrdersHealth,
  PutAside,
  SubmitterHealth,
  SubmitterLease,
} from './verbs/getHealth.js'
export type { GetOrderParameters } from './verbs/getOrder.js'
export type { GetRefundParameters } from './verbs/getRefund.js'
export type {
  ListEventsParameters,
  ListedEvents,
} from './verbs/listEvents.js'
export type {
  ListedOrders,
  ListOrdersParameters,
} from './verbs/listOrders.js'
export type { ChainHealth, NodeFault } from './verbs/nodeHealth.js'
export type { ReauthorizeOrderParameters } from './verbs/reauthorizeOrder.js'
export type { RefundOrderParameters } from './verbs/refundOrder.js'
export type { RefundToSignParameters } from './verbs/refundToSign.js'
export type { ResealParameters, ResealReport } from './verbs/resealOrders.js'
export type { VoidOrderParameters } from './verbs/voidOrder.js'
export type {
  ReconcileParameters,
  ReconciliationReport,
} from './watcher/reconcile.js'
export type { DestinationReconciliation } from './watcher/reconcileToken.js'
