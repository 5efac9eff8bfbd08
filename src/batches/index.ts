export type { DelegateName } from '../core/knownDelegates.js'
export {
  type BatchCall,
  type BatchCallParameters,
  type BatchedCall,
  batchCall,
  type MulticallCallParameters,
  multicallCall,
} from './calls/batchCall.js'
export {
  type BatchOutcome,
  type BatchReceipt,
  type ProveBatchParameters,
  proveBatch,
} from './calls/proveBatch.js'
export {
  type DelegateSubmitterParameters,
  delegateSubmitter,
  type UndelegateSubmitterParameters,
  undelegateSubmitter,
} from './delegateSubmitter.js'
export { DelegationError } from './delegates/errors.js'
export {
  type GetDelegationParameters,
  getDelegation,
} from './delegates/getDelegation.js'
export type {
  Delegation,
  DelegationChange,
  TrustedDelegate,
} from './delegates/types.js'
export {
  type CaptureKeyCallParameters,
  captureKeyCall,
} from './keys/captureKeyCall.js'
export {
  type CreateCaptureKeyParameters,
  createCaptureKey,
} from './keys/createCaptureKey.js'
export { CaptureKeyError } from './keys/errors.js'
export {
  type GetCaptureKeyParameters,
  getCaptureKey,
} from './keys/getCaptureKey.js'
export {
  type RevokeCaptureKeyParameters,
  revokeCaptureKey,
} from './keys/revokeCaptureKey.js'
export type { CaptureKey, CaptureKeyStatus } from './keys/types.js'
