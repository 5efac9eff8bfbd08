export {
  type BuildCheckoutPaymentParameters,
  buildCheckoutPayment,
  type CheckoutFields,
} from './buildCheckoutPayment.js'
export { checkout } from './checkout.js'
export { type CheckoutCallParameters, checkoutCall } from './checkoutCall.js'
export {
  checkoutAddress,
  checkoutDeployment,
  type DeploymentCall,
  type PermitCheckoutParameters,
  permitCheckoutAddress,
  permitCheckoutDeployment,
} from './checkoutContracts.js'
export { decodeCheckoutPayment, encodeCheckoutPayment } from './codec.js'
export { checkoutAbi } from './contracts/Checkout.generated.js'
export {
  type PrepareCheckoutPaymentParameters,
  prepareCheckoutPayment,
} from './prepareCheckoutPayment.js'
export type {
  CheckoutPayment,
  CheckoutTerms,
  SignedCheckoutPayment,
} from './types.js'
