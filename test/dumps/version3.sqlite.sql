-- What version 3 of the schema adds to version 2 in SQLite, with an order in the
-- archive.
create table archived_orders (
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
create unique index archived_orders_id on archived_orders (id);
create index archived_orders_listed on archived_orders (chain_id, token, recipient, position);
create index archived_orders_state on archived_orders (chain_id, token, recipient, state, position);
create index archived_orders_payer on archived_orders (chain_id, token, recipient, payer, position)
  where payer is not null;
create index archived_orders_token on archived_orders (chain_id, token, position);
create index archived_orders_token_state on archived_orders (chain_id, token, state, position);
create index archived_orders_token_payer on archived_orders (chain_id, token, payer, position)
  where payer is not null;
create index archived_orders_children on archived_orders (parent_id, position)
  where parent_id is not null;
create table archived_attempts (
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
create unique index archived_attempts_nonce on archived_attempts (nonce);
create unique index archived_attempts_replay on archived_attempts (chain_id, token, payer, nonce)
  where payer is not null;
create table archived_transactions (
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
create table archived_movements (
  order_id text not null,
  chain_id integer not null,
  account blob not null,
  nonce integer not null,
  bump integer not null,
  primary key (order_id, chain_id, account, nonce, bump)
) strict;
create index archived_transactions_order on archived_transactions (order_id)
  where order_id is not null;
create index archived_transactions_hash on archived_transactions (chain_id, hash)
  where hash is not null;
create table archived_proofs (
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
create index archived_proofs_order on archived_proofs (order_id)
  where order_id is not null;
create index archived_proofs_block on archived_proofs (chain_id, token, recipient, block_number, log_index);
create index archived_proofs_token on archived_proofs (chain_id, token, block_number, log_index);
create table archived_events (
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
create index archived_events_destination on archived_events (chain_id, token, recipient, cursor);
create index archived_events_token on archived_events (chain_id, token, cursor);
create index archived_events_order on archived_events (order_id, cursor)
  where order_id is not null;
insert into versions (version) values (3);
insert into archived_orders select * from orders where id = 'drafted';
delete from orders where id = 'drafted';
