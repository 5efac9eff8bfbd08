export type { Channels } from './Channels.js'
export {
  type BuildDepositParameters,
  buildDeposit,
  type Deposit,
} from './contract/buildDeposit.js'
export {
  type ChannelAmount,
  type ChannelMulticallParameters,
  type ClaimCallParameters,
  type ClaimWithSignatureCallParameters,
  channelMulticall,
  claimCall,
  claimWithSignatureCall,
  type DepositCallParameters,
  depositCall,
  type FinalizeWithdrawCallParameters,
  finalizeWithdrawCall,
  initiateWithdrawCall,
  type RefundWithSignatureCallParameters,
  refundCall,
  refundWithSignatureCall,
  type SettleCallParameters,
  settleCall,
} from './contract/channelCalls.js'
export {
  channelContract,
  channelDomain,
  depositCollector,
} from './contract/channelDomain.js'
export {
  type ClaimTypedData,
  type ClaimTypedDataParameters,
  claimTypedData,
  claimTypes,
  type HashClaimParameters,
  hashClaim,
} from './contract/claimTypedData.js'
export {
  type ChannelEvent,
  channelTopics,
  decodeChannelLog,
} from './contract/decodeChannelLog.js'
export {
  type ChainChannel,
  type ChannelBlock,
  type ChannelReadAt,
  type GetChannelParameters,
  type GetChannelsParameters,
  getChannel,
  getChannels,
} from './contract/getChannel.js'
export {
  type GetSettledParameters,
  getSettled,
  type SettledState,
} from './contract/getSettled.js'
export {
  type HashChannelConfigParameters,
  hashChannelConfig,
} from './contract/hashChannelConfig.js'
export { parseChannelConfig } from './contract/parseChannelConfig.js'
export {
  type RefundTypedData,
  type RefundTypedDataParameters,
  refundTypedData,
  refundTypes,
} from './contract/refundTypedData.js'
export type {
  ChannelCall,
  ChannelConfig,
  ClaimRow,
  SignedVoucher,
  Voucher,
} from './contract/types.js'
export { normalizeVoucherSignature } from './contract/voucherSignature.js'
export {
  type HashVoucherParameters,
  hashVoucher,
  type VoucherTypedData,
  type VoucherTypedDataParameters,
  voucherTypedData,
  voucherTypes,
} from './contract/voucherTypedData.js'
export {
  type CreateChannelsParameters,
  createChannels,
} from './createChannels.js'
export { type ChannelKind, channels } from './movements/channels.js'
export { AuthorizerKeyError } from './movements/errors.js'
export type { ChannelsPolicy } from './record/types.js'
export type {
  AuditChannelsParameters,
  ChannelDifference,
  ChannelsAudit,
  ChannelsAuditReport,
  UnknownChannel,
} from './verbs/auditChannels.js'
export type {
  ClaimChannelsParameters,
  ClaimReport,
} from './verbs/claimChannels.js'
export { ChannelNotFoundError, NoSubmitterError } from './verbs/errors.js'
export type {
  ChannelsHealth,
  DestinationChannels,
  OwingChannel,
  ThreateningWithdrawal,
  TokenChannels,
} from './verbs/getChannelsHealth.js'
export type { ChannelStatement, StatementLine } from './verbs/getStatement.js'
export type {
  ChannelParameters,
  ListChannelsParameters,
  ListedChannels,
} from './verbs/listChannels.js'
export type {
  ChannelRefundResult,
  RefundChannelParameters,
} from './verbs/refundChannel.js'
export type { RotatedKey, RotateKeyParameters } from './verbs/rotateKey.js'
export type { RunChannelsParameters } from './verbs/runChannels.js'
export type { Channel } from './verbs/showChannel.js'
export {
  type CheckVoucherParameters,
  checkVoucher,
  type RecoverSigner,
  type VoucherVerdict,
} from './vouchers/checkVoucher.js'
export {
  type SignVoucherParameters,
  signVoucher,
} from './vouchers/signVoucher.js'
