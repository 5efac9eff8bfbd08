import type { Migration } from './sqlEngine.js'

/** Creates the tables: version 1 of the schema. */
export const schema: Migration = ({
  text,
  id,
  integer,
  amount,
  bytes,
  boolean,
  position,
  end,
}) => [
  `create table orders (
    position ${position},
    id ${id} not null,
    version ${integer} not null,
    sequence ${integer} not null,
    chain_id ${integer} not null,
    token ${bytes} not null,
    recipient ${bytes} not null,
    submitter ${bytes} not null,
    state ${text} not null,
    attempt ${integer} not null,
    kind ${text} not null default 'eip3009',
    total ${text} not null default 'amount',
    value ${amount} not null,
    capture_value ${amount},
    decimals ${integer} not null,
    primary_type ${text},
    token_name ${text} not null,
    token_version ${text} not null,
    payer ${bytes},
    buyer_token_hash ${bytes} not null,
    metadata ${text} not null,
    created_at ${integer} not null,
    deadline ${integer} not null,
    send_due ${integer},
    look_due ${integer},
    requested ${text},
    reason ${text},
    tries ${integer} not null,
    needs_review ${boolean} not null,
    unexpected ${boolean} not null,
    overpaid ${boolean} not null,
    fulfilled ${text},
    finality ${text},
    settled_hash ${bytes},
    settled_block ${integer},
    early ${text},
    early_for ${text},
    refunds ${integer} not null default 0,
    role ${text} not null default 'sale',
    parent_id ${id},
    parent_attempt ${integer},
    payee ${bytes}
  )${end}`,
  'create unique index orders_id on orders (id)',
  'create index orders_listed on orders (chain_id, token, recipient, position)',
  'create index orders_state on orders (chain_id, token, recipient, state, position)',
  `create index orders_payer on orders (chain_id, token, recipient, payer, position)
    where payer is not null`,
  `create index orders_send_due on orders (chain_id, submitter, deadline, position)
    where send_due is not null`,
  // Those that begin with the token, without the recipient, find the rows of all
  // recipients in order. They serve a single recipient as well where rows are few.
  'create index orders_token on orders (chain_id, token, position)',
  'create index orders_token_state on orders (chain_id, token, state, position)',
  `create index orders_token_payer on orders (chain_id, token, payer, position)
    where payer is not null`,
  `create index orders_look_due on orders (chain_id, token, look_due, position, recipient)
    where look_due is not null`,
  `create index orders_settled on orders (chain_id, token, finality, settled_block, position, recipient)
    where settled_block is not null and finality <> 'finalized'`,
  `create index orders_unsettled on orders (chain_id, token, position, recipient)
    where payer is not null and look_due is not null`,
  `create index orders_early on orders (chain_id, token, early)
    where early is not null and early <> 'paid'`,
  `create index orders_children on orders (parent_id, position)
    where parent_id is not null`,
  `create index orders_refunds_due on orders (chain_id, token, state, position, recipient)
    where role = 'refund' and state = 'drafted'`,

  `create table attempts (
    order_id ${id} not null,
    number ${integer} not null,
    version ${integer} not null,
    chain_id ${integer} not null,
    token ${bytes} not null,
    nonce ${bytes} not null,
    payer ${bytes},
    valid_after ${integer} not null,
    valid_before ${integer} not null,
    signed_after ${integer},
    signed_before ${integer},
    signature_hash ${bytes},
    spendable_until ${integer},
    value ${amount} not null,
    spendable ${boolean} not null,
    terms ${text},
    signature ${text},
    cancellation ${text},
    primary key (order_id, number)
  )${end}`,
  'create unique index attempts_nonce on attempts (nonce)',
  `create unique index attempts_replay on attempts (chain_id, token, payer, nonce)
    where payer is not null`,
  `create index attempts_exposure on attempts (chain_id, token, payer)
    where spendable`,
  `create index attempts_sealed on attempts (order_id)
    where signature is not null or cancellation is not null`,

  `create table transactions (
    chain_id ${integer} not null,
    account ${bytes} not null,
    nonce ${integer} not null,
    bump ${integer} not null,
    version ${integer} not null,
    kind ${text} not null,
    order_id ${id},
    attempt ${integer},
    further ${text},
    hash ${bytes},
    raw ${text},
    gas ${amount} not null,
    max_fee_per_gas ${amount} not null,
    max_priority_fee_per_gas ${amount} not null,
    recorded_at ${integer} not null,
    in_flight ${boolean} not null,
    primary key (chain_id, account, nonce, bump)
  )${end}`,
  // Finds a transaction by its second and later orders. The first order is a
  // column of the transaction itself.
  `create table movements (
    order_id ${id} not null,
    chain_id ${integer} not null,
    account ${bytes} not null,
    nonce ${integer} not null,
    bump ${integer} not null,
    primary key (order_id, chain_id, account, nonce, bump)
  )${end}`,
  `create index transactions_order on transactions (order_id)
    where order_id is not null`,
  `create index transactions_hash on transactions (chain_id, hash)
    where hash is not null`,
  `create index transactions_in_flight on transactions (chain_id, account, nonce, bump)
    where in_flight`,
  `create index transactions_sealed on transactions (order_id)
    where raw is not null`,

  `create table proofs (
    chain_id ${integer} not null,
    transaction_hash ${bytes} not null,
    log_index ${integer} not null,
    version ${integer} not null,
    token ${bytes} not null,
    recipient ${bytes} not null,
    kind ${text} not null,
    order_id ${id},
    attempt ${integer},
    block_hash ${bytes} not null,
    block_number ${integer} not null,
    block_time ${integer} not null,
    payer ${bytes} not null,
    value ${amount} not null,
    submitter ${bytes} not null,
    gas_used ${amount} not null,
    effective_gas_price ${amount} not null,
    removed ${boolean} not null,
    primary key (chain_id, transaction_hash, log_index)
  )${end}`,
  `create index proofs_order on proofs (order_id)
    where order_id is not null`,
  'create index proofs_block on proofs (chain_id, token, recipient, block_number, log_index)',
  'create index proofs_token on proofs (chain_id, token, block_number, log_index)',

  `create table events (
    cursor ${integer} primary key,
    order_id ${id},
    sequence ${integer} not null,
    type ${text} not null,
    at ${integer} not null,
    chain_id ${integer} not null,
    token ${bytes} not null,
    recipient ${bytes} not null,
    data ${text} not null
  )${end}`,
  'create index events_destination on events (chain_id, token, recipient, cursor)',
  'create index events_token on events (chain_id, token, cursor)',
  `create index events_order on events (order_id, cursor)
    where order_id is not null`,

  `create table subscriptions (
    position ${position},
    id ${id} not null,
    version ${integer} not null,
    chain_id ${integer} not null,
    token ${bytes} not null,
    recipient ${bytes} not null,
    state ${text} not null,
    payer ${bytes} not null,
    permission ${text} not null,
    price ${amount},
    period ${integer} not null,
    charge_id ${text},
    tries ${integer} not null,
    due ${integer}
  )${end}`,
  'create unique index subscriptions_id on subscriptions (id)',
  'create index subscriptions_listed on subscriptions (chain_id, token, recipient, position)',
  'create index subscriptions_token on subscriptions (chain_id, token, position)',
  'create index subscriptions_payer on subscriptions (chain_id, token, recipient, payer, position)',
  `create index subscriptions_due on subscriptions (chain_id, token, due, position, recipient)
    where due is not null`,

  `create table recipients (
    chain_id ${integer} not null,
    token ${bytes} not null,
    recipient ${bytes} not null,
    version ${integer} not null,
    shop ${id} not null,
    removed ${boolean} not null,
    primary key (chain_id, token, recipient)
  )${end}`,
  'create index recipients_shop on recipients (shop, chain_id, token, recipient)',

  `create table notes (
    key ${id} primary key,
    version ${integer} not null,
    until ${integer} not null,
    data ${text} not null
  )${end}`,
  'create index notes_until on notes (until)',
  `create table settings (
    key ${id} primary key,
    value ${text} not null
  )${end}`,
  `create table leases (
    key ${id} primary key,
    owner ${text} not null,
    fence ${integer} not null,
    expires ${integer} not null
  )${end}`,
  // `for key share` locks the columns of this index, which include the fence.
  // So another owner cannot take a locked lease, but its owner can prolong it.
  'create unique index leases_fence on leases (key, fence)',
  `create table counters (
    name ${id} primary key,
    last ${integer} not null
  )${end}`,
  `insert into counters (name, last) values ('events', 0)`,
]
