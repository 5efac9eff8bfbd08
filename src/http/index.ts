export { createPaymentHandler } from './createPaymentHandler.js'
export { ZodVersionError } from './errors.js'
export type { BuyerOrder } from './schemas/buyerOrder.js'
export type { ProblemReason } from './schemas/problemTable.js'
export type {
  PaymentHandler,
  PaymentHandlerParameters,
  Principal,
} from './types.js'
