export {
  type FindChargesParameters,
  type FoundCharge,
  findCharges,
} from './charges/findCharges.js'
export {
  type SpendPermissions,
  type SpendPermissionsParameters,
  spendPermissions,
} from './charges/spendPermissions.js'
export {
  type CreateSubscriptionsParameters,
  createSubscriptions,
} from './createSubscriptions.js'
export {
  type BuildSpendPermissionParameters,
  buildSpendPermission,
  spendPermissionManager,
} from './permission/buildSpendPermission.js'
export { UnexpectedSpendPermissionError } from './permission/errors.js'
export {
  type GetSpendPermissionParameters,
  getSpendPermission,
  type SpendPermissionState,
} from './permission/getSpendPermission.js'
export { periodAt } from './permission/periodAt.js'
export {
  type SignSpendPermissionExpectation,
  type SignSpendPermissionParameters,
  signSpendPermission,
} from './permission/signSpendPermission.js'
export { markOf } from './permission/spendCalls.js'
export {
  hashSpendPermission,
  type SpendPermissionTypedData,
  spendPermissionTypedData,
  spendPermissionTypes,
} from './permission/spendPermissionTypedData.js'
export type {
  SignedSpendPermission,
  SpendPeriod,
  SpendPermission,
} from './permission/types.js'
export type {
  SpendPermissionExpectation,
  SpendPermissionRefusal,
  SpendPermissionVerdict,
} from './permission/verdict.js'
export {
  type VerifySpendPermissionParameters,
  verifySpendPermission,
} from './permission/verifySpendPermission.js'
export type { Subscriptions } from './Subscriptions.js'
export type { Subscription } from './schedule/showSubscription.js'
export type { SchedulePolicy, SubscriptionState } from './schedule/types.js'
export type { AcceptSubscriptionVerdict } from './verbs/acceptSubscription.js'
export type {
  IssuedBuyerToken,
  SubscriptionForBuyerParameters,
} from './verbs/buyerTokens.js'
export type { CancelSubscriptionVerdict } from './verbs/cancelSubscription.js'
export type {
  ChargeRefusal,
  ChargeVerdict,
} from './verbs/chargeSubscription.js'
export type {
  DraftedSubscription,
  DraftSubscriptionParameters,
} from './verbs/draftSubscription.js'
export { SubscriptionNotFoundError } from './verbs/errors.js'
export type { RestartSubscriptionVerdict } from './verbs/restartSubscription.js'
