import { expect, test } from 'vitest'
import {
  classifyDatabaseFailure,
  type DatabaseFailure,
} from './classifyDatabaseFailure.js'

type Given = Partial<Omit<DatabaseFailure, 'code'>>

const classify = (code: string, given: Given = {}) =>
  classifyDatabaseFailure({
    code,
    words: '',
    isOfDatabase: true,
    during: 'statement',
    ...given,
  })

test.each([
  ['23505', 'duplicate'],
  ['40001', 'rolledBack'],
  ['40P01', 'rolledBack'],
  ['55P03', 'rolledBack'],
  ['57014', 'rolledBack'],
  ['53100', 'full'],
  ['58030', 'disk'],
  ['08006', 'lost'],
  ['57P01', 'lost'],
  ['57P03', 'lost'],
  ['53200', 'lost'],
  ['53300', 'lost'],
  ['25006', 'lost'],
  ['25P03', 'lost'],
  ['23503', 'refused'],
  ['42501', 'refused'],
  ['53400', 'refused'],
  ['XX001', 'refused'],
  ['SQLITE_BUSY_SNAPSHOT', 'rolledBack'],
  ['SQLITE_LOCKED_SHAREDCACHE', 'rolledBack'],
  ['SQLITE_PROTOCOL', 'rolledBack'],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', 'duplicate'],
  ['SQLITE_CONSTRAINT_NOTNULL', 'refused'],
  ['SQLITE_FULL', 'full'],
  ['SQLITE_IOERR_WRITE', 'disk'],
  ['SQLITE_READONLY', 'refused'],
  ['SQLITE_CORRUPT', 'refused'],
  ['SQLITE_NOTADB', 'refused'],
  ['SQLITE_CANTOPEN', 'refused'],
] as const)('%s of a database means %s', (code, kind) => {
  expect(classify(code)).toBe(kind)
})

test.each<[string, Given, ReturnType<typeof classify>]>([
  ['0A000', { during: 'begin' }, 'lost'],
  ['0A000', {}, 'refused'],
  ['XX000', { during: 'connect', isOver: true }, 'lost'],
  ['XX000', { isOver: true }, 'lost'],
  ['XX000', {}, 'refused'],
  ['28P01', { during: 'connect', isOver: true }, 'refused'],
  ['3D000', { during: 'connect', isOver: true }, 'refused'],
  ['42501', { during: 'connect', isOver: true }, 'refused'],
  ['08P01', { during: 'connect', isOver: true }, 'lost'],
])('%s with %o means %s', (code, given, kind) => {
  expect(classify(code, given)).toBe(kind)
})

test.each([
  ['unsupported startup parameter: statement_timeout', 'refused'],
  ['no such database: shop', 'refused'],
  ['password authentication failed', 'refused'],
  ['auth failed', 'refused'],
  ['query_wait_timeout', 'lost'],
  ['pgbouncer cannot connect to server', 'lost'],
  ['server login failed: FATAL the database system is starting up', 'lost'],
  ['no more connections allowed (max_client_conn)', 'lost'],
])('PgBouncer that says "%s" means %s', (words, kind) => {
  const given = { words, during: 'connect', isOver: true } as const
  expect(classify('08P01', given)).toBe(kind)
})

test.each([
  ['ECONNREFUSED', '', 'lost'],
  ['ENOTFOUND', '', 'lost'],
  ['EAI_AGAIN', '', 'lost'],
  ['connection ended', 'Connection terminated unexpectedly', 'lost'],
  ['connection ended', 'timeout exceeded when trying to connect', 'lost'],
  ['connection ended', 'Query read timeout', 'lost'],
  ['SELF_SIGNED_CERT_IN_CHAIN', '', 'refused'],
  ['CERT_HAS_EXPIRED', '', 'refused'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', '', 'refused'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', '', 'refused'],
  [
    'connection ended',
    'The server does not support SSL connections',
    'refused',
  ],
  [
    'connection ended',
    'Cannot use a pool after calling end on the pool',
    'refused',
  ],
])('%s of a driver that says "%s" means %s', (code, words, kind) => {
  const given = { words, isOfDatabase: false, during: 'connect' } as const
  expect(classify(code, given)).toBe(kind)
})
