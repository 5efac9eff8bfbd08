export {
  type FaultTransport,
  faultTransport,
  type InjectedFault,
} from './faultTransport.js'
export type {
  FaultKind,
  FaultTransportParameters,
} from './injectFault.js'
export {
  type SamplePaymentParameters,
  samplePayment,
} from './samplePayment.js'
export { storeCases } from './storeCases.js'
export type { CreateStore, StoreCase } from './storeCasesTools.js'
