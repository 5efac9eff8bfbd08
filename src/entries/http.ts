export { createPaymentHandler } from '../http/createPaymentHandler.js'
export type {
  PaymentHandler,
  PaymentHandlerParameters,
  Principal,
} from '../http/types.js'
export type { ProblemReason } from '../schemas/problemTable.js'
export type { BuyerOrder } from '../streams/buyerOrder.js'
