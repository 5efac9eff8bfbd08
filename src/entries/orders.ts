export type { AcceptPaymentParameters } from '../accept/acceptPayment.js'
export type { CancelOrderParameters } from '../cancel/cancelOrder.js'
export type { RequestCancellationParameters } from '../cancel/requestCancellation.js'
export type { VoidOrderParameters } from '../cancel/voidOrder.js'
export type { DraftOrderParameters } from '../draft/planDraft.js'
export type { ReauthorizeOrderParameters } from '../draft/reauthorizeOrder.js'
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
export type {
  ReadEvents,
  ReadEventsParameters,
} from '../orders/readEvents.js'
export type {
  ChainHealth,
  LaneHealth,
  LaneLease,
  NodeFault,
  OrdersHealth,
  PutAside,
  ScopeHealth,
} from '../orders/readHealth.js'
export type { RunWorkerParameters } from '../orders/runWorker.js'
export type {
  AuditDifference,
  AuditParameters,
  AuditReport,
  AuditSum,
  ScopeAudit,
} from '../reconcile/auditOrders.js'
export type {
  ReconcileParameters,
  ReconciliationReport,
} from '../reconcile/reconcile.js'
export type { ScopeReconciliation } from '../reconcile/reconcileScope.js'
export {
  CursorAheadError,
  OrderNotFoundError,
  OrdersSetupError,
  TransitionError,
} from '../records/errors.js'
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
} from '../records/types.js'
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
