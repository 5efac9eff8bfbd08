export type { Answers, Wire } from '../http/schemas/answerTypes.js'
export type {
  BuyerClient,
  BuyerNews,
  BuyerState,
  ClientKind,
} from './BuyerClient.js'
export {
  type CreateBuyerClientParameters,
  createBuyerClient,
} from './createBuyerClient.js'
export {
  type CreateMerchantClientParameters,
  createMerchantClient,
} from './createMerchantClient.js'
export {
  type CreateSubscriberClientParameters,
  createSubscriberClient,
  type SubscriberClient,
  type SubscriberState,
} from './createSubscriberClient.js'
export { createSubscriptionsClient } from './createSubscriptionsClient.js'
export {
  type DescribeOrderParameters,
  describeOrder,
  type OrderDescription,
  type OrderToDescribe,
} from './describeOrder.js'
export { ProblemError, ServerError } from './errors.js'
export type { ConnectionParameters } from './line.js'
export type {
  FollowOrdersParameters,
  MerchantClient,
  MerchantEvent,
  MerchantOrder,
} from './MerchantClient.js'
export type { SubscriptionsClient } from './SubscriptionsClient.js'
export type { OrderWords } from './words/types.js'
