import type { SealContext } from '../../store/types.js'
import type { ChannelTerms } from './types.js'

/** The context that the newest voucher of a channel is sealed with. */
export function voucherPlace({
  id,
  chainId,
  token,
  payer,
}: Pick<ChannelTerms, 'id' | 'chainId' | 'token' | 'payer'>): SealContext {
  return {
    kind: 'payment',
    orderId: id,
    attempt: 1,
    chainId,
    token,
    payer,
    nonce: id,
  }
}
