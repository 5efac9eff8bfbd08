import type { Migration } from './sqlEngine.js'

/**
 * Adds indexes that begin with the token, without the recipient. A statement
 * then finds the rows of all recipients in order, and need not name thousands
 * of them. The indexes of open orders, which are few, then serve a single
 * recipient as well.
 */
export const findByToken: Migration = () => [
  'create index orders_token on orders (chain_id, token, position)',
  'create index orders_token_state on orders (chain_id, token, state, position)',
  `create index orders_token_payer on orders (chain_id, token, payer, position)
    where payer is not null`,
  'drop index orders_look_due',
  `create index orders_look_due on orders (chain_id, token, look_due, position, recipient)
    where look_due is not null`,
  'drop index orders_unsettled',
  `create index orders_unsettled on orders (chain_id, token, position, recipient)
    where payer is not null and look_due is not null`,
  'drop index orders_refunds_due',
  `create index orders_refunds_due on orders (chain_id, token, state, position, recipient)
    where refund_of is not null and state = 'drafted'`,
  'drop index orders_settled',
  `create index orders_settled on orders (chain_id, token, finality, settled_block, position, recipient)
    where settled_block is not null and finality <> 'finalized'`,
  'create index proofs_token on proofs (chain_id, token, block_number, log_index)',
  'create index events_token on events (chain_id, token, cursor)',
  'create index subscriptions_token on subscriptions (chain_id, token, position)',
]
