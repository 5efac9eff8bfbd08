-- What version 3 of the schema adds to version 2 in PostgreSQL, with an order in the
-- archive.
begin;
set local search_path to countersign;
create table archived_orders (
  position int8 primary key,
  id text collate "C" not null,
  version int8 not null,
  sequence int8 not null,
  chain_id int8 not null,
  token bytea not null,
  recipient bytea not null,
  submitter bytea not null,
  state text not null,
  attempt int8 not null,
  kind text not null default 'eip3009',
  total text not null default 'amount',
  value numeric(78, 0) not null,
  capture_value numeric(78, 0),
  decimals int8 not null,
  primary_type text,
  token_name text not null,
  token_version text not null,
  payer bytea,
  buyer_token_hash bytea not null,
  metadata text not null,
  created_at int8 not null,
  deadline int8 not null,
  send_due int8,
  look_due int8,
  requested text,
  reason text,
  tries int8 not null,
  needs_review boolean not null,
  unexpected boolean not null,
  overpaid boolean not null,
  fulfilled text,
  finality text,
  settled_hash bytea,
  settled_block int8,
  early text,
  early_for text,
  refunds int8 not null default 0,
  role text not null default 'sale',
  parent_id text collate "C",
  parent_attempt int8,
  payee bytea
);
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
  order_id text collate "C" not null,
  number int8 not null,
  version int8 not null,
  chain_id int8 not null,
  token bytea not null,
  nonce bytea not null,
  payer bytea,
  valid_after int8 not null,
  valid_before int8 not null,
  signed_after int8,
  signed_before int8,
  signature_hash bytea,
  spendable_until int8,
  value numeric(78, 0) not null,
  spendable boolean not null,
  terms text,
  signature text,
  cancellation text,
  primary key (order_id, number)
);
create unique index archived_attempts_nonce on archived_attempts (nonce);
create unique index archived_attempts_replay on archived_attempts (chain_id, token, payer, nonce)
  where payer is not null;
create table archived_transactions (
  chain_id int8 not null,
  account bytea not null,
  nonce int8 not null,
  bump int8 not null,
  version int8 not null,
  kind text not null,
  order_id text collate "C",
  attempt int8,
  further text,
  hash bytea,
  raw text,
  gas numeric(78, 0) not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  recorded_at int8 not null,
  in_flight boolean not null,
  primary key (chain_id, account, nonce, bump)
);
create table archived_movements (
  order_id text collate "C" not null,
  chain_id int8 not null,
  account bytea not null,
  nonce int8 not null,
  bump int8 not null,
  primary key (order_id, chain_id, account, nonce, bump)
);
create index archived_transactions_order on archived_transactions (order_id)
  where order_id is not null;
create index archived_transactions_hash on archived_transactions (chain_id, hash)
  where hash is not null;
create table archived_proofs (
  chain_id int8 not null,
  transaction_hash bytea not null,
  log_index int8 not null,
  version int8 not null,
  token bytea not null,
  recipient bytea not null,
  kind text not null,
  order_id text collate "C",
  attempt int8,
  block_hash bytea not null,
  block_number int8 not null,
  block_time int8 not null,
  payer bytea not null,
  value numeric(78, 0) not null,
  submitter bytea not null,
  gas_used numeric(78, 0) not null,
  effective_gas_price numeric(78, 0) not null,
  removed boolean not null,
  primary key (chain_id, transaction_hash, log_index)
);
create index archived_proofs_order on archived_proofs (order_id)
  where order_id is not null;
create index archived_proofs_block on archived_proofs (chain_id, token, recipient, block_number, log_index);
create index archived_proofs_token on archived_proofs (chain_id, token, block_number, log_index);
create table archived_events (
  cursor int8 primary key,
  order_id text collate "C",
  sequence int8 not null,
  type text not null,
  at int8 not null,
  chain_id int8 not null,
  token bytea not null,
  recipient bytea not null,
  data text not null
);
create index archived_events_destination on archived_events (chain_id, token, recipient, cursor);
create index archived_events_token on archived_events (chain_id, token, cursor);
create index archived_events_order on archived_events (order_id, cursor)
  where order_id is not null;
insert into versions (version) values (3);
insert into archived_orders select * from orders where id = 'drafted';
delete from orders where id = 'drafted';
commit;
