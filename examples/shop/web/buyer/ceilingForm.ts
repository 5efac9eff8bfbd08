import {
  checkout,
  decodeCheckoutPayment,
  encodeCheckoutPayment,
} from 'countersign/checkout'
import type { PaymentForm } from './paymentForms.js'

/** Of a payment of at most what the buyer was shown. */
export const ceilingForm: PaymentForm = {
  kind: checkout,
  decode: decodeCheckoutPayment,
  encode: encodeCheckoutPayment,
}
