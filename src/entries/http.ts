export type { BuyerOrder } from '../http/buyerOrder.js'
export { createPaymentHandler } from '../http/createPaymentHandler.js'
export type { ProblemReason } from '../http/problemTable.js'
export type {
  PaymentHandler,
  PaymentHandlerParameters,
  Principal,
} from '../http/types.js'
