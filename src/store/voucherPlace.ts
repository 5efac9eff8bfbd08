import type { ChannelRecord, SealContext } from './types.js'

/** The context that the newest voucher of a channel is sealed with. */
export function voucherPlace({
  id: channelId,
  signed: maxClaimable,
}: Pick<ChannelRecord, 'id' | 'signed'>): SealContext {
  return { kind: 'voucher', channelId, maxClaimable }
}
