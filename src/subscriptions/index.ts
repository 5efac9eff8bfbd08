export {
  type FindChargesParameters,
  type FoundCharge,
  findCharges,
} from './charges/findCharges.js'
export type { PermissionUse } from './charges/findUses.js'
export type { WalletLimits } from './charges/rehearseCharge.js'
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
  type SpendPermissionStruct,
  type SpendPermissionTypedData,
  spendPermissionTypedData,
  spendPermissionTypes,
} from './permission/spendPermissionTypedData.js'
export type {
  SignedSpendPermission,
  SpendPeriod,
  SpendPermission,
  SpendPermissionMessage,
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
export type { RunSchedulesParameters } from './runSchedules.js'
export type { Subscriptions } from './Subscriptions.js'
export type { Subscription } from './schedule/showSubscription.js'
export type { SchedulePolicy, SubscriptionState } from './schedule/types.js'
export type {
  AcceptSubscriptionParameters,
  AcceptSubscriptionVerdict,
} from './verbs/acceptSubscription.js'
export type {
  CancelSubscriptionVerdict,
  SubscriptionIdParameters,
} from './verbs/cancelSubscription.js'
export type {
  ChargeRefusal,
  ChargeSubscriptionParameters,
  ChargeVerdict,
} from './verbs/chargeSubscription.js'
export type {
  DraftedSubscription,
  DraftSubscriptionParameters,
} from './verbs/draftSubscription.js'
export { SubscriptionNotFoundError } from './verbs/errors.js'
export type {
  ListChargesParameters,
  ListedCharges,
  ListedSubscriptions,
  ListSubscriptionsParameters,
} from './verbs/listSubscriptions.js'
export type { ReconciledCharges } from './verbs/reconcileBlock.js'
export type { ReconcileChargesParameters } from './verbs/reconcileCharges.js'
export type { RestartSubscriptionVerdict } from './verbs/restartSubscription.js'
export type { ChargeDueReport } from './verbs/runSchedule.js'
