export {
  type FaultTransport,
  faultTransport,
  type InjectedFault,
} from '../testing/faultTransport.js'
export type {
  FaultKind,
  FaultTransportParameters,
} from '../testing/injectFault.js'
export {
  type SamplePaymentParameters,
  samplePayment,
} from '../testing/samplePayment.js'
export { storeCases } from '../testing/storeCases.js'
export type { CreateStore, StoreCase } from '../testing/storeCasesTools.js'
