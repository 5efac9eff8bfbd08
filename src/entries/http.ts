export type {
  PaymentHandler,
  PaymentHandlerParameters,
  Principal,
} from '../http/types.js'
