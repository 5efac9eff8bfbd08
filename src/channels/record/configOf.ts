import type { ChannelRecord } from '../../store/types.js'
import type { ChannelConfig } from '../contract/types.js'

/** Returns the terms of a channel on record, as the contract hashes them. */
export function configOf({
  payer,
  payerAuthorizer,
  recipient: receiver,
  receiverAuthorizer,
  token,
  withdrawDelay,
  salt,
}: Pick<
  ChannelRecord,
  | 'payer'
  | 'payerAuthorizer'
  | 'recipient'
  | 'receiverAuthorizer'
  | 'token'
  | 'withdrawDelay'
  | 'salt'
>): ChannelConfig {
  return {
    payer,
    payerAuthorizer,
    receiver,
    receiverAuthorizer,
    token,
    withdrawDelay,
    salt,
  }
}
