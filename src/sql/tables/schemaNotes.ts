import type { Migration } from './sqlEngine.js'

export const addNotes: Migration = ({ id, integer, text, end }) => [
  `create table notes (
    key ${id} primary key,
    version ${integer} not null,
    until ${integer} not null,
    data ${text} not null
  )${end}`,
  'create index notes_until on notes (until)',
]
