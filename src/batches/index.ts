export type { DelegateName } from '../core/knownDelegates.js'
export {
  type BatchCall,
  type BatchCallParameters,
  type BatchedCall,
  batchCall,
  type MulticallCallParameters,
  multicallCall,
} from './batchCall.js'
export {
  type DelegateSubmitterParameters,
  delegateSubmitter,
  type UndelegateSubmitterParameters,
  undelegateSubmitter,
} from './delegateSubmitter.js'
export { DelegationError } from './errors.js'
export {
  type GetDelegationParameters,
  getDelegation,
} from './getDelegation.js'
export {
  type BatchOutcome,
  type BatchReceipt,
  type ProveBatchParameters,
  proveBatch,
} from './proveBatch.js'
export type { Delegation, DelegationChange, TrustedDelegate } from './types.js'
