export { type FaultTransport, faultTransport } from './faultTransport.js'
export type { FaultTransportParameters } from './injectFault.js'
export {
  type SamplePaymentParameters,
  samplePayment,
} from './samplePayment.js'
export type { CreateStore } from './storeCase.js'
export { storeCases } from './storeCases.js'
