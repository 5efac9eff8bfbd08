export {
  type SamplePaymentParameters,
  samplePayment,
} from '../testing/samplePayment.js'
