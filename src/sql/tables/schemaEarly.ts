import type { Migration } from './sqlEngine.js'

/**
 * Adds what orders store about an early answer: one given while only the
 * pending block shows the capture.
 */
export const addEarly: Migration = ({ text }) => [
  `alter table orders add column early ${text}`,
  `alter table orders add column early_for ${text}`,
  `create index orders_early on orders (chain_id, token, early)
    where early is not null and early <> 'paid'`,
]
