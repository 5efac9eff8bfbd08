import type { Migration } from './sqlEngine.js'

/** Adds the columns of refunds to the table of orders. */
export const addRefunds: Migration = ({ id, integer, text, bytes }) => [
  `alter table orders add column refunds ${integer} not null default 0`,
  `alter table orders add column refund_of ${id}`,
  `alter table orders add column refund_id ${text}`,
  `alter table orders add column refund_to ${bytes}`,
  `alter table orders add column refund_attempt ${integer}`,
  `create index orders_refunds on orders (refund_of)
    where refund_of is not null`,
  `create index orders_refunds_due on orders (chain_id, token, recipient, position)
    where refund_of is not null and state = 'drafted'`,
]
