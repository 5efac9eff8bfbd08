export type { Answers, Wire } from '../http/schemas/answerTypes.js'
export type {
  AbortOptions,
  BuyerClient,
  BuyerNews,
  BuyerState,
  CancellationTaken,
  CancelPaymentOptions,
  ClientKind,
  FollowOrderParameters,
  PaymentOptions,
  PayOrderParameters,
  RequestPaymentParameters,
} from './BuyerClient.js'
export {
  type CreateBuyerClientParameters,
  createBuyerClient,
} from './createBuyerClient.js'
export {
  type CreateMerchantClientParameters,
  createMerchantClient,
} from './createMerchantClient.js'
export { createSubscriptionsClient } from './createSubscriptionsClient.js'
export { ProblemError, ServerError } from './errors.js'
export type { FollowParameters } from './followStream.js'
export type { ConnectionParameters } from './line.js'
export type {
  Audit,
  AuditOptions,
  AuditProgress,
  CaptureParameters,
  DraftParameters,
  FollowOrdersParameters,
  LedgerOptions,
  ListParameters,
  MerchantClient,
  MerchantEvent,
  MerchantOrder,
  MerchantRefund,
  OrderParameters,
  ReauthorizeParameters,
  ReconcileOptions,
  RefundParameters,
  RefundPaymentParameters,
  RefundSignatureParameters,
  RequestRefundParameters,
} from './MerchantClient.js'
export type {
  DraftSubscriptionRequest,
  ListChargesRequest,
  ListSubscriptionsRequest,
  SubscriptionParameters,
  SubscriptionsClient,
} from './SubscriptionsClient.js'
