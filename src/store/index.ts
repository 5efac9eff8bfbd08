export {
  DuplicateRecordError,
  LeaseLostError,
  SealError,
  StaleRecordError,
  StoreError,
} from './errors.js'
export {
  type MemoryStoreParameters,
  memoryStore,
} from './memoryStore.js'
export { type SealerParameters, sealer } from './sealer.js'
export type { SealKey, SealKeySource } from './sealKeys.js'
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
} from './types.js'
