import type { Migration } from './sqlEngine.js'

/** Adds the table of channels: version 2 of the schema. */
export const channelSchema: Migration = ({
  text,
  id,
  integer,
  amount,
  bytes,
  position,
  end,
}) => [
  `create table channels (
    position ${position},
    id ${bytes} not null,
    version ${integer} not null,
    chain_id ${integer} not null,
    token ${bytes} not null,
    recipient ${bytes} not null,
    payer ${bytes} not null,
    payer_authorizer ${bytes} not null,
    receiver_authorizer ${bytes} not null,
    withdraw_delay ${integer} not null,
    salt ${bytes} not null,
    state ${text} not null,
    reason ${text},
    charged ${amount} not null,
    signed ${amount} not null,
    voucher ${text},
    balance ${amount} not null,
    claimed ${amount} not null,
    withdrawing ${amount} not null,
    withdrawable_at ${integer},
    refund_nonce ${amount} not null,
    seen_block ${integer} not null,
    seen_at ${integer} not null,
    deposit_id ${id},
    unclaimed_since ${integer},
    due ${integer},
    used_at ${integer} not null
  )${end}`,
  'create unique index channels_id on channels (id)',
  'create index channels_listed on channels (chain_id, token, recipient, position)',
  'create index channels_payer on channels (chain_id, token, recipient, payer, position)',
  // Those that begin with the token, without the recipient, find the rows of all
  // recipients in order.
  'create index channels_token on channels (chain_id, token, position)',
  'create index channels_token_payer on channels (chain_id, token, payer, position)',
  `create index channels_due on channels (chain_id, token, due, position, recipient)
    where due is not null`,
]
