export {
  type FindChargesParameters,
  type FoundCharge,
  findCharges,
} from './charges/findCharges.js'
export type { PermissionUse } from './charges/findUses.js'
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
