-- What version 2 of the schema adds to version 1 in SQLite, with a channel.
create table channels (
  position integer primary key,
  id blob not null,
  version integer not null,
  chain_id integer not null,
  token blob not null,
  recipient blob not null,
  payer blob not null,
  payer_authorizer blob not null,
  receiver_authorizer blob not null,
  withdraw_delay integer not null,
  salt blob not null,
  state text not null,
  reason text,
  charged text not null,
  signed text not null,
  voucher text,
  balance text not null,
  claimed text not null,
  withdrawing text not null,
  withdrawable_at integer,
  refund_nonce text not null,
  seen_block integer not null,
  seen_at integer not null,
  deposit_id text,
  unclaimed_since integer,
  due integer,
  used_at integer not null
) strict;
create unique index channels_id on channels (id);
create index channels_listed on channels (chain_id, token, recipient, position);
create index channels_payer on channels (chain_id, token, recipient, payer, position);
create index channels_token on channels (chain_id, token, position);
create index channels_token_payer on channels (chain_id, token, payer, position);
create index channels_due on channels (chain_id, token, due, position, recipient)
  where due is not null;
insert into versions (version) values (2);
insert into channels
  (position, id, version, chain_id, token, recipient, payer, payer_authorizer, receiver_authorizer, withdraw_delay, salt, state, reason, charged, signed, voucher, balance, claimed, withdrawing, withdrawable_at, refund_nonce, seen_block, seen_at, unclaimed_since, due, used_at)
  values (1, X'9999999999999999999999999999999999999999999999999999999999999999', 1, 8453, X'1111111111111111111111111111111111111111', X'2222222222222222222222222222222222222222', X'4444444444444444444444444444444444444444', X'5555555555555555555555555555555555555555', X'6666666666666666666666666666666666666666', 900, X'0000000000000000000000000000000000000000000000000000000000000000', 'open', null, '5', '340282366920938463463374607431768211455', 'key-1 1 a', '340282366920938463463374607431768211455', '3', '0', null, '1', 7, 1750000000, 1750000001, 1750000600, 1750000001);
