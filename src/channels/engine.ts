/**
 * What the gate of `countersign/x402` and the commands may use of channels, besides the public
 * entry `countersign/channels`.
 */

export type { Channels } from './Channels.js'
export { channelsContextOf } from './channelsContextOf.js'
export { depositNonce } from './contract/buildDeposit.js'
export { depositCollector } from './contract/channelDomain.js'
export { hashParsedConfig } from './contract/hashChannelConfig.js'
export { parseChannelConfig } from './contract/parseChannelConfig.js'
export type { ChannelConfig } from './contract/types.js'
export { hashParsedVoucher } from './contract/voucherTypedData.js'
export { createChannels } from './createChannels.js'
export { openAuthorizer } from './movements/authorizer.js'
export { channelKindName } from './movements/channels.js'
export { depositIdOf } from './movements/planMovement.js'
export { judgeVoucher } from './record/judgeVoucher.js'
export type { ChannelBook } from './record/openBook.js'
export { voucherPlace } from './record/voucherPlace.js'
export { adoptChannel } from './verbs/adoptChannel.js'
export type { ChannelsAuditReport } from './verbs/auditChannels.js'
export type { ChannelsContext } from './verbs/context.js'
export { depositToChannel } from './verbs/depositToChannel.js'
export type { ChannelsHealth } from './verbs/getChannelsHealth.js'
export { refreshChannels } from './verbs/refreshChannels.js'
export { refundChannel } from './verbs/refundChannel.js'
export { checkVoucher, type RecoverSigner } from './vouchers/checkVoucher.js'
