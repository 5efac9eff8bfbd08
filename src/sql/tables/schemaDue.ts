import type { Migration } from './sqlEngine.js'

/**
 * Replaces an index, so that one query finds the due subscriptions of all
 * recipients of a token.
 */
export const findDueByToken: Migration = () => [
  'drop index subscriptions_due',
  `create index subscriptions_due on subscriptions (chain_id, token, due, position, recipient)
    where due is not null`,
]
