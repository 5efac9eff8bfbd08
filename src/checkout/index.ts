export {
  type BuildCheckoutPaymentParameters,
  buildCheckoutPayment,
} from './buildCheckoutPayment.js'
export {
  type BuildPermitPaymentParameters,
  buildPermitPayment,
} from './buildPermitPayment.js'
export { checkout } from './checkout.js'
export { type CheckoutCallParameters, checkoutCall } from './checkoutCall.js'
export {
  checkoutAddress,
  checkoutDeployment,
  type PermitCheckoutParameters,
  permitCheckoutAddress,
  permitCheckoutDeployment,
} from './checkoutContracts.js'
export {
  decodeCheckoutPayment,
  decodePermitPayment,
  encodeCheckoutPayment,
  encodePermitPayment,
} from './codec.js'
export { checkoutAbi } from './contracts/Checkout.generated.js'
export {
  type GetPermitStateParameters,
  getPermitState,
  type PermitState,
} from './getPermitState.js'
export { permitCheckout } from './permitCheckout.js'
export {
  type PrepareCheckoutPaymentParameters,
  prepareCheckoutPayment,
} from './prepareCheckoutPayment.js'
export {
  type PreparePermitPaymentParameters,
  preparePermitPayment,
} from './preparePermitPayment.js'
export {
  type SignPermitCancellationParameters,
  signPermitCancellation,
} from './signPermitCancellation.js'
export type {
  CheckoutPayment,
  PermitPayment,
  SignedCheckoutPayment,
  SignedPermitPayment,
} from './types.js'
