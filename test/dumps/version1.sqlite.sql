-- Version 1 of the schema in SQLite, with a row of each kind.
create table orders (
  position integer primary key,
  id text not null,
  version integer not null,
  sequence integer not null,
  chain_id integer not null,
  token blob not null,
  recipient blob not null,
  submitter blob not null,
  state text not null,
  attempt integer not null,
  kind text not null default 'eip3009',
  total text not null default 'amount',
  value text not null,
  capture_value text,
  decimals integer not null,
  primary_type text,
  token_name text not null,
  token_version text not null,
  payer blob,
  buyer_token_hash blob not null,
  metadata text not null,
  created_at integer not null,
  deadline integer not null,
  send_due integer,
  look_due integer,
  requested text,
  reason text,
  tries integer not null,
  needs_review integer not null,
  unexpected integer not null,
  overpaid integer not null,
  fulfilled text,
  finality text,
  settled_hash blob,
  settled_block integer,
  early text,
  early_for text,
  refunds integer not null default 0,
  role text not null default 'sale',
  parent_id text,
  parent_attempt integer,
  payee blob
) strict;
create unique index orders_id on orders (id);
create index orders_listed on orders (chain_id, token, recipient, position);
create index orders_state on orders (chain_id, token, recipient, state, position);
create index orders_payer on orders (chain_id, token, recipient, payer, position)
  where payer is not null;
create index orders_send_due on orders (chain_id, submitter, deadline, position)
  where send_due is not null;
create index orders_token on orders (chain_id, token, position);
create index orders_token_state on orders (chain_id, token, state, position);
create index orders_token_payer on orders (chain_id, token, payer, position)
  where payer is not null;
create index orders_look_due on orders (chain_id, token, look_due, position, recipient)
  where look_due is not null;
create index orders_settled on orders (chain_id, token, finality, settled_block, position, recipient)
  where settled_block is not null and finality <> 'finalized';
create index orders_unsettled on orders (chain_id, token, position, recipient)
  where payer is not null and look_due is not null;
create index orders_early on orders (chain_id, token, early)
  where early is not null and early <> 'paid';
create index orders_children on orders (parent_id, position)
  where parent_id is not null;
create index orders_refunds_due on orders (chain_id, token, state, position, recipient)
  where role = 'refund' and state = 'drafted';
create table attempts (
  order_id text not null,
  number integer not null,
  version integer not null,
  chain_id integer not null,
  token blob not null,
  nonce blob not null,
  payer blob,
  valid_after integer not null,
  valid_before integer not null,
  signed_after integer,
  signed_before integer,
  signature_hash blob,
  spendable_until integer,
  value text not null,
  spendable integer not null,
  terms text,
  signature text,
  cancellation text,
  primary key (order_id, number)
) strict;
create unique index attempts_nonce on attempts (nonce);
create unique index attempts_replay on attempts (chain_id, token, payer, nonce)
  where payer is not null;
create index attempts_exposure on attempts (chain_id, token, payer)
  where spendable;
create index attempts_sealed on attempts (order_id)
  where signature is not null or cancellation is not null;
create table transactions (
  chain_id integer not null,
  account blob not null,
  nonce integer not null,
  bump integer not null,
  version integer not null,
  kind text not null,
  order_id text,
  attempt integer,
  further text,
  hash blob,
  raw text,
  gas text not null,
  max_fee_per_gas text not null,
  max_priority_fee_per_gas text not null,
  recorded_at integer not null,
  in_flight integer not null,
  primary key (chain_id, account, nonce, bump)
) strict;
create table movements (
  order_id text not null,
  chain_id integer not null,
  account blob not null,
  nonce integer not null,
  bump integer not null,
  primary key (order_id, chain_id, account, nonce, bump)
) strict;
create index transactions_order on transactions (order_id)
  where order_id is not null;
create index transactions_hash on transactions (chain_id, hash)
  where hash is not null;
create index transactions_in_flight on transactions (chain_id, account, nonce, bump)
  where in_flight;
create index transactions_sealed on transactions (order_id)
  where raw is not null;
create table proofs (
  chain_id integer not null,
  transaction_hash blob not null,
  log_index integer not null,
  version integer not null,
  token blob not null,
  recipient blob not null,
  kind text not null,
  order_id text,
  attempt integer,
  block_hash blob not null,
  block_number integer not null,
  block_time integer not null,
  payer blob not null,
  value text not null,
  submitter blob not null,
  gas_used text not null,
  effective_gas_price text not null,
  removed integer not null,
  primary key (chain_id, transaction_hash, log_index)
) strict;
create index proofs_order on proofs (order_id)
  where order_id is not null;
create index proofs_block on proofs (chain_id, token, recipient, block_number, log_index);
create index proofs_token on proofs (chain_id, token, block_number, log_index);
create table events (
  cursor integer primary key,
  order_id text,
  sequence integer not null,
  type text not null,
  at integer not null,
  chain_id integer not null,
  token blob not null,
  recipient blob not null,
  data text not null
) strict;
create index events_destination on events (chain_id, token, recipient, cursor);
create index events_token on events (chain_id, token, cursor);
create index events_order on events (order_id, cursor)
  where order_id is not null;
create table subscriptions (
  position integer primary key,
  id text not null,
  version integer not null,
  chain_id integer not null,
  token blob not null,
  recipient blob not null,
  state text not null,
  payer blob not null,
  permission text not null,
  price text,
  period integer not null,
  charge_id text,
  tries integer not null,
  due integer
) strict;
create unique index subscriptions_id on subscriptions (id);
create index subscriptions_listed on subscriptions (chain_id, token, recipient, position);
create index subscriptions_token on subscriptions (chain_id, token, position);
create index subscriptions_payer on subscriptions (chain_id, token, recipient, payer, position);
create index subscriptions_due on subscriptions (chain_id, token, due, position, recipient)
  where due is not null;
create table recipients (
  chain_id integer not null,
  token blob not null,
  recipient blob not null,
  version integer not null,
  shop text not null,
  removed integer not null,
  primary key (chain_id, token, recipient)
) strict;
create index recipients_shop on recipients (shop, chain_id, token, recipient);
create table notes (
  key text primary key,
  version integer not null,
  until integer not null,
  data text not null
) strict;
create index notes_until on notes (until);
create table settings (
  key text primary key,
  value text not null
) strict;
create table leases (
  key text primary key,
  owner text not null,
  fence integer not null,
  expires integer not null
) strict;
create unique index leases_fence on leases (key, fence);
create table counters (
  name text primary key,
  last integer not null
) strict;
insert into counters (name, last) values ('events', 0);
create table versions (version integer primary key) strict;
insert into versions (version) values (1);
insert into orders
  (position, id, version, sequence, chain_id, token, recipient, submitter, state, attempt, value, decimals, primary_type, token_name, token_version, payer, buyer_token_hash, metadata, created_at, deadline, send_due, look_due, requested, reason, tries, needs_review, unexpected, overpaid, fulfilled, finality, settled_hash, settled_block)
  values (1, 'drafted', 1, 0, 8453, X'1111111111111111111111111111111111111111', X'2222222222222222222222222222222222222222', X'2222222222222222222222222222222222222222', 'drafted', 1, '12500000', 6, 'ReceiveWithAuthorization', 'USD Coin', '2', NULL, X'3333333333333333333333333333333333333333333333333333333333333333', '{"cart":["tea",2]}', 1750000000, 1750000900, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL);
insert into orders
  (position, id, version, sequence, chain_id, token, recipient, submitter, state, attempt, value, decimals, primary_type, token_name, token_version, payer, buyer_token_hash, metadata, created_at, deadline, send_due, look_due, requested, reason, tries, needs_review, unexpected, overpaid, fulfilled, finality, settled_hash, settled_block)
  values (2, 'captured', 1, 0, 8453, X'1111111111111111111111111111111111111111', X'2222222222222222222222222222222222222222', X'2222222222222222222222222222222222222222', 'captured', 1, '115792089237316195423570985008687907853269984665640564039457584007913129639935', 6, 'ReceiveWithAuthorization', '"O''Hara" \ ₮', '2', X'4444444444444444444444444444444444444444', X'3333333333333333333333333333333333333333333333333333333333333333', '{}', 1750000000, 1750000900, 5, 6, NULL, NULL, 0, 1, 0, 0, NULL, 'safe', X'5555555555555555555555555555555555555555555555555555555555555555', 7);
insert into attempts
  (order_id, number, version, chain_id, token, nonce, payer, valid_after, valid_before, signed_after, signed_before, signature_hash, spendable_until, value, spendable, signature, cancellation)
  values ('captured', 1, 1, 8453, X'1111111111111111111111111111111111111111', X'6666666666666666666666666666666666666666666666666666666666666666', NULL, 1750000000, 1750000900, NULL, NULL, NULL, NULL, '12500000', 1, '{"sealed":"…"}', NULL);
insert into transactions
  (chain_id, account, nonce, bump, version, kind, order_id, attempt, further, hash, raw, gas, max_fee_per_gas, max_priority_fee_per_gas, recorded_at, in_flight)
  values (8453, X'2222222222222222222222222222222222222222', 0, 0, 1, 'capture', 'captured', 1, '[{"orderId":"drafted","attempt":1}]', X'7777777777777777777777777777777777777777777777777777777777777777', NULL, '90000', '2000000', '1000000', 1750000000000, 1);
insert into movements
  (order_id, chain_id, account, nonce, bump)
  values ('drafted', 8453, X'2222222222222222222222222222222222222222', 0, 0);
insert into proofs
  (chain_id, transaction_hash, log_index, version, token, recipient, kind, order_id, attempt, block_hash, block_number, block_time, payer, value, submitter, gas_used, effective_gas_price, removed)
  values (8453, X'7777777777777777777777777777777777777777777777777777777777777777', 0, 1, X'1111111111111111111111111111111111111111', X'2222222222222222222222222222222222222222', 'unmatched', 'captured', NULL, X'8888888888888888888888888888888888888888888888888888888888888888', 1, 1750000000, X'4444444444444444444444444444444444444444', '12500000', X'2222222222222222222222222222222222222222', '90000', '1000000', 0);
insert into events
  (cursor, order_id, sequence, type, at, chain_id, token, recipient, data)
  values (1, 'captured', 1, 'drafted', 1750000000000, 8453, X'1111111111111111111111111111111111111111', X'2222222222222222222222222222222222222222', '{"finality":"safe"}');
insert into settings
  (key, value)
  values ('watch', '{"block":"7"}');
insert into leases
  (key, owner, fence, expires)
  values ('watch', 'before', 1, 0);
update counters set last = 1 where name = 'events';
insert into counters (name, last) values
  ('orders 8453 0x1111111111111111111111111111111111111111 0x2222222222222222222222222222222222222222 captured', 1),
  ('orders 8453 0x1111111111111111111111111111111111111111 0x2222222222222222222222222222222222222222 drafted', 1);
