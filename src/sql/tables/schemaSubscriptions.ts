import type { Migration } from './sqlEngine.js'

/**
 * Creates the table of subscriptions, and adds the columns of their charges to
 * the table of orders.
 */
export const addSubscriptions: Migration = ({
  text,
  id,
  integer,
  amount,
  bytes,
  position,
  end,
}) => [
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
  'create index subscriptions_payer on subscriptions (chain_id, token, recipient, payer, position)',
  `create index subscriptions_due on subscriptions (chain_id, token, recipient, due, position)
    where due is not null`,
  `alter table orders add column subscription_id ${id}`,
  `alter table orders add column charge_id ${text}`,
  `create index orders_charges on orders (subscription_id, position)
    where subscription_id is not null`,
]
