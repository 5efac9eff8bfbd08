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
  Destination,
  EventData,
  EventQuery,
  EventRecord,
  HeldLease,
  JsonObject,
  Lease,
  NoteQuery,
  NoteRecord,
  OrderQuery,
  OrderReason,
  OrderRecord,
  OrderState,
  PaymentStore,
  ProofQuery,
  ProofRecord,
  Reader,
  SealContext,
  Sealer,
  SecretQuery,
  StoredValue,
  StoreReader,
  StoreWriter,
  Submitter,
  Table,
  TransactionQuery,
  TransactionRecord,
} from './types.js'
