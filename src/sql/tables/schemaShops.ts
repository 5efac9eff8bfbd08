import type { Migration } from './sqlEngine.js'

/**
 * Creates the table that stores which recipient belongs to which named shop.
 */
export const addShops: Migration = ({ id, integer, bytes, boolean, end }) => [
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
]
