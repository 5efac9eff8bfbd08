export { createPaymentHandler } from './createPaymentHandler.js'
export type { ProblemReason } from './schemas/problemTable.js'
export type { BuyerOrder } from './streams/buyerOrder.js'
export type {
  PaymentHandler,
  PaymentHandlerParameters,
  Principal,
} from './types.js'
