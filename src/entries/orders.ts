export {
  OrderNotFoundError,
  OrdersSetupError,
  TransitionError,
} from '../ledger/errors.js'
export type {
  AcceptRefusal,
  AcceptVerdict,
  CancellationRequest,
  CancelVerdict,
  CaptureRefusal,
  CaptureResult,
  CreateOrdersParameters,
  DraftedOrder,
  DraftedPayment,
  Observation,
  Order,
  OrderEvent,
  OrderEventType,
  OrdersPolicy,
  OrderToken,
  ReauthorizeVerdict,
  SettledCancellation,
  SettledCapture,
  VoidVerdict,
} from '../ledger/types.js'
export type { AcceptPaymentParameters } from '../orders/acceptPayment.js'
export type { CancelOrderParameters } from '../orders/cancelOrder.js'
export type { CaptureOrderParameters } from '../orders/captureOrder.js'
export {
  createOrders,
  type Orders,
  type ScopedOrders,
} from '../orders/createOrders.js'
export type {
  GetForBuyerParameters,
  OrderForBuyer,
} from '../orders/getForBuyer.js'
export type { GetOrderParameters } from '../orders/getOrder.js'
export type {
  ListedOrders,
  ListOrdersParameters,
} from '../orders/listOrders.js'
export type { DraftOrderParameters } from '../orders/planDraft.js'
export type {
  ReadEvents,
  ReadEventsParameters,
} from '../orders/readEvents.js'
export type {
  ChainHealth,
  LaneHealth,
  LaneLease,
  OrdersHealth,
  ScopeHealth,
} from '../orders/readHealth.js'
export type { ReauthorizeOrderParameters } from '../orders/reauthorizeOrder.js'
export type { RequestCancellationParameters } from '../orders/requestCancellation.js'
export type { RunWorkerParameters } from '../orders/runWorker.js'
export type { VoidOrderParameters } from '../orders/voidOrder.js'
export {
  DuplicateRecordError,
  LeaseLostError,
  SealError,
  StaleRecordError,
  StoreError,
} from '../store/errors.js'
export {
  type MemoryStoreParameters,
  memoryStore,
} from '../store/memoryStore.js'
export { type SealerParameters, sealer } from '../store/sealer.js'
export type { SealKey, SealKeySource } from '../store/sealKeys.js'
export type {
  AttemptQuery,
  AttemptRecord,
  EventQuery,
  EventRecord,
  HeldLease,
  JsonObject,
  Lane,
  Lease,
  OrderQuery,
  OrderRecord,
  OrderState,
  PaymentStore,
  ProofQuery,
  ProofRecord,
  Reader,
  Scope,
  SealContext,
  Sealer,
  StoreReader,
  StoreWriter,
  Table,
  TransactionQuery,
  TransactionRecord,
} from '../store/types.js'
export type {
  AuditDifference,
  AuditParameters,
  AuditReport,
  AuditSum,
  ScopeAudit,
} from '../watch/auditOrders.js'
export type {
  ReconcileParameters,
  ReconciliationReport,
} from '../watch/reconcile.js'
export type { ScopeReconciliation } from '../watch/reconcileScope.js'
