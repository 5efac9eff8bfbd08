/**
 * What gate and facilitator of `countersign/x402` and the commands may use of
 * channels, besides the public entry `countersign/channels`.
 */

export type { Channels } from './Channels.js'
export { channelsContextOf } from './channelsContextOf.js'
export { depositNonce } from './contract/buildDeposit.js'
export { depositCollector } from './contract/channelDomain.js'
export { hashClaim } from './contract/claimTypedData.js'
export {
  type ChainChannel,
  getChannel,
  getChannels,
} from './contract/getChannel.js'
export { getSettled } from './contract/getSettled.js'
export { hashParsedConfig } from './contract/hashChannelConfig.js'
export { parseChannelConfig } from './contract/parseChannelConfig.js'
export { refundTypedData } from './contract/refundTypedData.js'
export type { ChannelConfig } from './contract/types.js'
export { normalizeVoucherSignature } from './contract/voucherSignature.js'
export { hashParsedVoucher } from './contract/voucherTypedData.js'
export { createChannels } from './createChannels.js'
export {
  type Authorizer,
  keepAuthorizer,
  openAuthorizer,
} from './movements/authorizer.js'
export { channelKindName } from './movements/channels.js'
export type { ClaimSignatures } from './movements/claimSignatures.js'
export {
  depositIdOf,
  type PlannedMovement,
  type PlannedRow,
  planChannelRefund,
  planClaim,
  planDeposit,
} from './movements/planMovement.js'
export { rehearsePlanned } from './movements/rehearsePlanned.js'
export { signChannelRefund, signClaim } from './movements/signMovement.js'
export { insertMovement, sealMovement } from './movements/writeMovement.js'
export { judgeVoucher, leftOf } from './record/judgeVoucher.js'
export type { ChannelBook } from './record/openBook.js'
export { adoptChannel } from './verbs/adoptChannel.js'
export type { ChannelsAuditReport } from './verbs/auditChannels.js'
export { claimAtLimit } from './verbs/claimAtLimit.js'
export type { ChannelsContext } from './verbs/context.js'
export { depositToChannel } from './verbs/depositToChannel.js'
export type { ChannelsHealth } from './verbs/getChannelsHealth.js'
export { movementFacts } from './verbs/movementFacts.js'
export { refreshChannels } from './verbs/refreshChannels.js'
export { refundChannel } from './verbs/refundChannel.js'
export { checkVoucher, type RecoverSigner } from './vouchers/checkVoucher.js'
