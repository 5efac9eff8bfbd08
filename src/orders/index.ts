export type { Observation } from '../core/observeFailure.js'
export type {
  CaptureWallet,
  CreateOrdersParameters,
  OrderToken,
} from './context/types.js'
export { createOrders } from './createOrders.js'
export type { DestinationOrders } from './DestinationOrders.js'
export { toCsv } from './ledger/toCsv.js'
export { toHledger } from './ledger/toHledger.js'
export { toJsonLines } from './ledger/toJsonLines.js'
export type { LedgerRow } from './ledger/types.js'
export {
  CursorAheadError,
  OrderNotFoundError,
  OrdersSetupError,
  ProofConflictError,
  RefundNotFoundError,
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
  RefundReason,
  RefundRefusal,
  RefundState,
} from './model/refundTypes.js'
export type {
  AcceptRefundVerdict,
  RefundToSignVerdict,
  RefundVerdict,
} from './model/refundVerdicts.js'
export type { SettledCapture } from './model/settledTypes.js'
export type {
  AcceptRefusal,
  AcceptVerdict,
  AnyDraftedPayment,
  CancellationToSignVerdict,
  CancellationVerdict,
  CaptureRefusal,
  CaptureResult,
  DraftedOrder,
  DraftedPayment,
  Order,
  OrdersPolicy,
  ReauthorizeVerdict,
  VoidVerdict,
} from './model/types.js'
export type { Orders } from './Orders.js'
export type { AuditReport } from './verbs/auditOrders.js'
export type { AuditSum } from './verbs/auditRange.js'
export type { ProbeVerdict } from './verbs/createProbes.js'
export type {
  DraftOrderParameters,
  ExactDraftParameters,
} from './verbs/draftFacts.js'
export type {
  DestinationHealth,
  OrdersHealth,
  SubmitterHealth,
} from './verbs/getHealth.js'
export type { ChainHealth } from './verbs/nodeHealth.js'
export type { ReconciliationReport } from './watcher/reconcile.js'
