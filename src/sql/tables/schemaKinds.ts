import type { Migration } from './sqlEngine.js'

/** Adds the columns that payments of other kinds than EIP-3009 need. */
export const addKinds: Migration = ({ text, amount }) => [
  `alter table orders add column kind ${text} not null default 'eip3009'`,
  `alter table orders add column total ${text} not null default 'amount'`,
  `alter table orders add column capture_value ${amount}`,
  `alter table attempts add column terms ${text}`,
]
