export { createOrders, type Orders } from '../orders/createOrders.js'
export {
  OrderNotFoundError,
  OrdersSetupError,
  TransitionError,
} from '../orders/errors.js'
export type { GetOrderParameters } from '../orders/getOrder.js'
export type { DraftOrderParameters } from '../orders/planDraft.js'
export type {
  CreateOrdersParameters,
  DraftedOrder,
  DraftedPayment,
  Observation,
  Order,
  OrderEvent,
  OrderEventType,
  OrdersPolicy,
  OrderToken,
  SettledCancellation,
  SettledCapture,
  VoidVerdict,
} from '../orders/types.js'
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
