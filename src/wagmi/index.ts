export {
  type CanceledOrder,
  type CancelOrderPaymentParameters,
  cancelOrderPayment as cancelPayment,
} from './actions/cancelOrderPayment.js'
export {
  type GetBuyerOrderParameters,
  getBuyerOrder as getOrder,
} from './actions/getBuyerOrder.js'
export {
  type ConnectedWallet,
  type SignOrderPaymentParameters,
  signOrderPayment as signPayment,
} from './actions/signOrderPayment.js'
export {
  type UseCancelPaymentParameters,
  useCancelPayment,
} from './hooks/useCancelPayment.js'
export { type UseOrderParameters, useOrder } from './hooks/useOrder.js'
export {
  type UseSignPaymentParameters,
  useSignPayment,
} from './hooks/useSignPayment.js'
export {
  type GetOrderOptions,
  type GetOrderQueryKey,
  type GetOrderQueryOptions,
  getOrderQueryKey,
  getOrderQueryOptions,
} from './query/getOrderQueryOptions.js'
export {
  type CancelPaymentOptions,
  cancelPaymentMutationOptions,
  type SignPaymentOptions,
  signPaymentMutationOptions,
} from './query/mutationOptions.js'
