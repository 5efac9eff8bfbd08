import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresStore, sqliteStore } from 'countersign/sql'
import {
  type CompiledQuery,
  Kysely,
  PostgresDialect,
  SqliteDialect,
  sql,
} from 'kysely'
import Database from 'libsql'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postgresDialect } from '../../../src/sql/engines/postgresDialect.js'
import { sqliteDialect } from '../../../src/sql/engines/sqliteDialect.js'
import { countOrders } from '../../../src/sql/orderCounts.js'
import { findChannels } from '../../../src/sql/sqlChannels.js'
import {
  findAttempts,
  findEvents,
  findProofs,
  findTransactions,
} from '../../../src/sql/sqlFinds.js'
import { loadSqlLease, releaseSqlLease } from '../../../src/sql/sqlLeases.js'
import {
  type Finder,
  findEarly,
  findOrders,
} from '../../../src/sql/sqlOrders.js'
import {
  countSecretKeys,
  findSecretOrders,
} from '../../../src/sql/sqlSecrets.js'
import { findSubscriptions } from '../../../src/sql/sqlSubscriptions.js'
import { bothSides } from '../../../src/sql/tables/archivedTables.js'
import { seenRows } from '../../../src/sql/tables/seenRows.js'
import type {
  SqlDialect,
  SqlSession,
} from '../../../src/sql/tables/sqlEngine.js'
import {
  findArchivedByKey,
  hasKeyOf,
  updateRows,
} from '../../../src/sql/tables/sqlRows.js'
import {
  attemptTable,
  channelTable,
  movementTable,
  orderTable,
  proofTable,
  transactionTable,
} from '../../../src/sql/tables/sqlTables.js'
import { drawAddress } from '../../storeCases/samples.js'
import { startDatabase, type TestDatabase } from '../support/database.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-plans-'))
const file = join(folder, 'plans.db')
let database: TestDatabase
let connectionString: string
let pool: pg.Pool

const bytes = (digit: string, length: number) =>
  `0x${digit.repeat(length * 2)}` as const
const destination = {
  chainId: 1,
  token: bytes('1', 20),
  recipient: bytes('2', 20),
}
const submitter = { chainId: 1, account: bytes('3', 20) }
const payer = bytes('4', 20)
const hash = bytes('5', 32)

beforeAll(async () => {
  await sqliteStore({ file }).open()
  database = await startDatabase()
  connectionString = await database.create('plans')
  await postgresStore({ connectionString }).open()
  pool = new pg.Pool({
    connectionString,
    max: 1,
    options: '-c search_path=countersign',
  })
  // `end` resolves before its connections are closed: the server may end them.
  pool.on('error', () => undefined)
  await fillOrders(1_000, 0)
  for (const fill of fills) await pool.query(fill)
  await pool.query('analyze')
})

afterAll(async () => {
  await pool.end()
  await database.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Orders that were paid long ago, and after them one in a hundred is due. */
const fillOrders = (rows: number, from: number) =>
  pool.query(`insert into orders (id, version, sequence, chain_id, token,
      recipient, submitter, state, attempt, value, decimals, primary_type,
      token_name, token_version, payer, buyer_token_hash, metadata,
      created_at, deadline, send_due, look_due, tries, needs_review, unexpected,
      overpaid, finality, settled_block)
    select 'order-' || n, 1, 1, 1, decode(repeat('11', 20), 'hex'),
      decode(repeat('22', 20), 'hex'), decode(repeat('33', 20), 'hex'),
      case when n % 100 = 0 then 'stored' else 'captured' end, 1, 1, 6,
      'ReceiveWithAuthorization', 'USD Coin', '2',
      decode(md5((n % 500)::text) || '00000000', 'hex'),
      sha256(n::text::bytea), '{}', n, n,
      case when n % 100 = 0 then n end, case when n % 100 = 0 then n end,
      0, false, false, false,
      case when n % 100 > 0 then (array['included', 'finalized'])[1 + n % 2] end,
      case when n % 100 > 0 then n end
    from generate_series(${from + 1}, ${from + rows}) as n`)

const fills = [
  `update orders set role = 'refund', parent_id = 'order-' || (position - 1)
    where position % 50 = 0`,
  `insert into attempts (order_id, number, version, chain_id, token, nonce,
      payer, valid_after, valid_before, value, spendable)
    select 'order-' || n, 1, 1, 1, decode(repeat('11', 20), 'hex'),
      sha256(n::text::bytea), decode(md5((n % 500)::text) || '00000000', 'hex'),
      1, 2, 1, n % 100 = 0
    from generate_series(1, 20000) as n`,
  `update attempts set signature = 'key-1 1 a' where spendable`,
  `insert into transactions (chain_id, account, nonce, bump, version, kind,
      order_id, hash, raw, gas, max_fee_per_gas, max_priority_fee_per_gas,
      recorded_at, in_flight)
    select 1, decode(repeat('33', 20), 'hex'), n, 0, 1, 'capture',
      'order-' || n, sha256(n::text::bytea),
      case when n > 19900 then 'key-1 1 a' end, 1, 1, 1, 1, n > 19900
    from generate_series(1, 20000) as n`,
  `insert into movements (order_id, chain_id, account, nonce, bump)
    select 'order-' || n + 1, 1, decode(repeat('33', 20), 'hex'), n, 0
    from generate_series(1, 20000) as n`,
  `insert into proofs (chain_id, transaction_hash, log_index, version, token,
      recipient, kind, order_id, block_hash, block_number, block_time, payer,
      value, submitter, gas_used, effective_gas_price, removed)
    select 1, sha256(n::text::bytea), 1, 1, decode(repeat('11', 20), 'hex'),
      decode(repeat('22', 20), 'hex'), 'capture', 'order-' || n,
      sha256(n::text::bytea), n, n, decode(repeat('44', 20), 'hex'), 1,
      decode(repeat('44', 20), 'hex'), 1, 1, false
    from generate_series(1, 20000) as n`,
  `insert into events (cursor, order_id, sequence, type, at, chain_id, token,
      recipient, data)
    select n, 'order-' || n, 1, 'x', n, 1, decode(repeat('11', 20), 'hex'),
      decode(repeat('22', 20), 'hex'), '{}'
    from generate_series(1, 20000) as n`,
  `insert into subscriptions (id, version, chain_id, token, recipient, state,
      payer, permission, period, tries, due)
    select 'subscription-' || n, 1, 1, decode(repeat('11', 20), 'hex'),
      decode(repeat('22', 20), 'hex'), 'active', decode(repeat('44', 20), 'hex'),
      '{}', 1, 0, case when n % 100 = 0 then n end
    from generate_series(1, 20000) as n`,
  `insert into channels (id, version, chain_id, token, recipient, payer,
      payer_authorizer, receiver_authorizer, withdraw_delay, salt, state,
      charged, signed, balance, claimed, withdrawing, refund_nonce, seen_block,
      seen_at, due, used_at)
    select sha256(n::text::bytea), 1, 1, decode(repeat('11', 20), 'hex'),
      decode(repeat('22', 20), 'hex'),
      decode(md5((n % 500)::text) || '00000000', 'hex'),
      decode(repeat('44', 20), 'hex'), decode(repeat('55', 20), 'hex'), 900,
      sha256('salt'), 'open', 1, 1, case when n % 100 = 0 then n else 0 end, 0,
      0, 0, 1, 1, case when n % 100 = 0 then n end, 1
    from generate_series(1, 20000) as n`,
  ...[
    'orders',
    'attempts',
    'transactions',
    'movements',
    'proofs',
    'events',
  ].map((table) => `insert into archived_${table} select * from ${table}`),
  `insert into leases (key, owner, fence, expires)
    select 'lease-' || n, 'one', n, n from generate_series(1, 20000) as n`,
  `insert into counters (name, last)
    select 'counter-' || n, n from generate_series(1, 20000) as n`,
]

const listed = [destination, { ...destination, recipient: bytes('9', 20) }]
const limit = 20

/** Every query of the contract, and the indexes that may answer it. */
const queries: [string, string, (finder: Finder) => Promise<unknown>][] = [
  ['orders by id', 'orders_id', (it) => findOrders(it, { ids: ['order-1'] })],
  ['orders listed', 'orders_listed', (it) => findOrders(it, { listed, limit })],
  [
    'the oldest order of one recipient among many',
    'orders_listed',
    (it) =>
      findOrders(it, {
        oldest: { ...destination, recipient: bytes('9', 20) },
        limit: 1,
      }),
  ],
  [
    'orders listed before a place',
    'orders_listed',
    (it) => findOrders(it, { listed, before: 500n, limit }),
  ],
  [
    'orders listed by state',
    'orders_state',
    (it) => findOrders(it, { listed, states: ['stored', 'canceling'], limit }),
  ],
  [
    'orders listed by payer',
    'orders_payer',
    (it) => findOrders(it, { listed, payer, limit }),
  ],
  [
    'what a submitter has to send',
    'orders_send_due',
    (it) =>
      findOrders(it, {
        sendDue: submitter,
        recipients: [destination.recipient],
        until: 10_000n,
        limit,
      }),
  ],
  [
    'what the chain has to be asked',
    'orders_look_due',
    (it) => findOrders(it, { lookDue: [destination], until: 10_000n, limit }),
  ],
  [
    'orders by the finality of their settlement',
    'orders_settled',
    (it) =>
      findOrders(it, {
        settled: [destination],
        finality: 'included',
        toBlock: 50n,
        limit,
      }),
  ],
  [
    'orders that are open',
    'orders_unsettled',
    (it) => findOrders(it, { unsettled: [destination], after: 5n, limit }),
  ],
  [
    'refunds of orders',
    'orders_children',
    (it) => findOrders(it, { refundsOf: ['order-1', 'order-2'] }),
  ],
  [
    'charges under a permission',
    'orders_children',
    (it) => findOrders(it, { chargesOf: 'order-1', before: 500n, limit }),
  ],
  [
    'orders that were answered before a block showed their captures',
    'orders_early',
    (it) => findEarly(it, { ...destination, early: ['reserved', 'answered'] }),
  ],
  [
    'how many orders of one recipient among many',
    '(counters_pkey)',
    (it) => countOrders(it, listed),
  ],
  [
    'subscriptions that are due',
    'subscriptions_due',
    (it) =>
      findSubscriptions(it, { due: [destination], until: 10_000n, limit }),
  ],
  [
    'channels by id',
    'channels_id',
    (it) => findChannels(it, { ids: [hash, bytes('6', 32)] }),
  ],
  [
    'channels listed',
    'channels_listed',
    (it) => findChannels(it, { listed, before: 500n, limit }),
  ],
  [
    'channels listed by payer',
    'channels_payer',
    (it) => findChannels(it, { listed, payer, limit }),
  ],
  [
    'channels that are due',
    'channels_due',
    (it) => findChannels(it, { due: [destination], until: 10_000n, limit }),
  ],
  [
    'channels to watch',
    '(channels_token|channels_pkey)',
    (it) => findChannels(it, { watched: [destination], after: 5n, limit }),
  ],
  [
    'attempts by order',
    'attempts_pkey',
    (it) => findAttempts(it, { orderIds: ['order-1', 'order-2'] }),
  ],
  [
    'attempts by nonce',
    'attempts_nonce',
    (it) => findAttempts(it, { nonces: [hash] }),
  ],
  [
    'what a payer can be charged',
    'attempts_exposure',
    (it) => findAttempts(it, { exposure: { ...destination, payer } }),
  ],
  [
    'transactions by order',
    'transactions_order',
    (it) => findTransactions(it, { orderIds: ['order-1', 'order-2'] }),
  ],
  [
    'transactions by hash',
    'transactions_hash',
    (it) => findTransactions(it, { hashes: [hash], chainId: 1 }),
  ],
  [
    'transactions that are open',
    'transactions_in_flight',
    (it) => findTransactions(it, { inFlight: submitter }),
  ],
  [
    'transactions at a nonce',
    'transactions_pkey',
    (it) => findTransactions(it, { at: submitter, nonce: 7 }),
  ],
  [
    'transactions from a nonce on',
    'transactions_pkey',
    (it) => findTransactions(it, { sentBy: submitter, fromNonce: 7, limit }),
  ],
  [
    'proofs by order',
    'proofs_order',
    (it) => findProofs(it, { orderIds: ['order-1', 'order-2'] }),
  ],
  [
    'proofs by hash',
    'proofs_pkey',
    (it) => findProofs(it, { hashes: [hash], chainId: 1 }),
  ],
  [
    'proofs by block',
    'proofs_block',
    (it) => findProofs(it, { destinations: listed, fromBlock: 9n, limit }),
  ],
  [
    'events by order',
    'events_order',
    (it) => findEvents(it, { orderIds: ['order-1', 'order-2'] }),
  ],
  [
    'events of the stream',
    'events_destination',
    (it) => findEvents(it, { destinations: listed, after: 9n, limit }),
  ],
  [
    'the newest event',
    'events_destination',
    (it) => findEvents(it, { newest: listed }),
  ],
  [
    'who holds a lease',
    '(leases_pkey|leases_fence)',
    (it) => loadSqlLease(it.session, it.dialect, 'lease-7'),
  ],
  [
    'a lease given back',
    '(leases_pkey|leases_fence)',
    (it) =>
      releaseSqlLease(it.session, it.dialect, {
        key: 'lease-7',
        owner: 'one',
        fence: 7n,
      }),
  ],
  [
    'an update of orders',
    'orders_id',
    (it) => updateRows(it.session, it.dialect, orderTable, [row]),
  ],
  [
    'an update of attempts',
    'attempts_pkey',
    (it) => updateRows(it.session, it.dialect, attemptTable, [row], sameNonce),
  ],
  [
    'the archive, for the new nonce of an attempt',
    'archived_attempts_nonce',
    (it) => updateRows(it.session, it.dialect, attemptTable, [row]),
  ],
  [
    'an update of channels',
    'channels_id',
    (it) => updateRows(it.session, it.dialect, channelTable, [channelRow]),
  ],
]

/** Those that name rows by their keys. */
const keyQueries: typeof queries = [
  [
    'the archived row of an order',
    'archived_orders_id',
    (it) => findArchivedByKey(it, orderTable, [row]),
  ],
  [
    'the archived row of an attempt',
    'archived_attempts_pkey',
    (it) => findArchivedByKey(it, attemptTable, [row]),
  ],
  [
    'the archived row of a transaction',
    'archived_transactions_pkey',
    (it) => findArchivedByKey(it, transactionTable, [sentRow]),
  ],
  [
    'the archived row of a proof',
    'archived_proofs_pkey',
    (it) => findArchivedByKey(it, proofTable, [proofRow]),
  ],
]
for (const name of ['transactions', 'archived_transactions'])
  keyQueries.push([
    `${name} that are moved`,
    `${name}_pkey`,
    ({ session, dialect }) =>
      sql`select * from ${sql.table(name)}
        where ${hasKeyOf(dialect, transactionTable, [sentRow])}`.execute(
        session,
      ),
  ])
for (const name of ['movements', 'archived_movements'])
  keyQueries.push([
    `${name} that are moved`,
    `${name}_pkey`,
    ({ session, dialect }) =>
      sql`select * from ${sql.table(name)}
        where ${hasKeyOf(dialect, movementTable, [sentRow])}`.execute(session),
  ])

/** So many recipients that no statement names them. */
const many = Array.from({ length: 150 }, (_, at) => ({
  ...destination,
  recipient: at === 0 ? destination.recipient : drawAddress(),
}))

const manyQueries: typeof queries = [
  [
    'orders of many recipients listed',
    '(orders_token|orders_pkey)',
    (it) => findOrders(it, { listed: many, limit }),
  ],
  [
    'orders of many recipients listed by state',
    'orders_token_state',
    (it) => findOrders(it, { listed: many, states: ['stored'], limit }),
  ],
  [
    'orders of many recipients listed by payer',
    'orders_token_payer',
    (it) => findOrders(it, { listed: many, payer, limit }),
  ],
  [
    'what a submitter has to send for many recipients',
    'orders_send_due',
    (it) =>
      findOrders(it, {
        sendDue: submitter,
        recipients: many.map(({ recipient }) => recipient),
        until: 10_000n,
        limit,
      }),
  ],
  [
    'what the chain has to be asked for many recipients',
    'orders_look_due',
    (it) => findOrders(it, { lookDue: many, until: 10_000n, limit }),
  ],
  [
    'orders of many recipients by the finality of their settlement',
    'orders_settled',
    (it) => findOrders(it, { settled: many, finality: 'included', limit }),
  ],
  [
    'orders of many recipients that are open',
    'orders_unsettled',
    (it) => findOrders(it, { unsettled: many, after: 5n, limit }),
  ],
  [
    'refunds of many recipients to sign',
    'orders_refunds_due',
    (it) => findOrders(it, { refundsDue: many, after: 5n, limit }),
  ],
  [
    'subscriptions of many recipients that are due',
    'subscriptions_due',
    (it) => findSubscriptions(it, { due: many, until: 10_000n, limit }),
  ],
  [
    'channels of many recipients listed',
    '(channels_token|channels_pkey)',
    (it) => findChannels(it, { listed: many, limit }),
  ],
  [
    'channels of many recipients listed by payer',
    'channels_token_payer',
    (it) => findChannels(it, { listed: many, payer, limit }),
  ],
  [
    'channels of many recipients that are due',
    'channels_due',
    (it) => findChannels(it, { due: many, until: 10_000n, limit }),
  ],
  [
    'channels of many recipients to watch',
    '(channels_token|channels_pkey)',
    (it) => findChannels(it, { watched: many, after: 5n, limit }),
  ],
  [
    'how many orders of many recipients',
    '(counters_pkey)',
    (it) => countOrders(it, many),
  ],
  [
    'proofs of many recipients by block',
    'proofs_token',
    (it) => findProofs(it, { destinations: many, fromBlock: 9n, limit }),
  ],
  [
    'events of many recipients',
    '(events_token|events_pkey)',
    (it) => findEvents(it, { destinations: many, after: 9n, limit }),
  ],
  [
    'the newest event of many recipients',
    '(events_token|events_pkey)',
    (it) => findEvents(it, { newest: many }),
  ],
]
queries.push(...manyQueries)

/** Those whose statements name no recipient if no other shop has rows. */
const unnamed = new Set(manyQueries.map(([, , ask]) => ask))

/** Of no row: only the plan matters. */
const row = { id: 'none', orderId: 'none', number: 1, version: 1 }
const channelRow = { id: hash, version: 1 }
const sameNonce = seenRows()
sameNonce.keep(attemptTable, [row])
const sentRow = { ...submitter, nonce: 1, bump: 0, orderId: 'none' }
const proofRow = { chainId: 1, transactionHash: hash, logIndex: 1 }

test.each([...queries, ...keyQueries])(
  'in SQLite, %s: an index',
  async (_, index, ask) => {
    const sqlite = new Database(file)
    const statements = await record(
      (log) =>
        new Kysely({ dialect: new SqliteDialect({ database: sqlite }), log }),
      sqliteDialect,
      ask,
    )
    const plan = statements.flatMap(({ sql, parameters }) =>
      sqlite.prepare(`explain query plan ${sql}`).all([...parameters]),
    )
    sqlite.close()
    const steps = plan.map((step) =>
      String(Reflect.get(Object(step), 'detail')),
    )
    const name = index.replace(/(\w+)_pkey/, 'sqlite_autoindex_$1_1')
    expect(steps.join('\n')).toMatch(
      new RegExp(`SEARCH \\w+ USING (COVERING )?INDEX ${name} `),
    )
    const scans = steps.filter((step) =>
      /^SCAN (?!(merged|part|json_each))/.test(step),
    )
    expect(
      scans.filter((step) => !/VIRTUAL TABLE|\(subquery/.test(step)),
    ).toEqual([])
  },
)

/** Questions about secrets go through those alone, and not through all orders. */
const secretQueries: [string, (finder: Finder) => Promise<unknown>][] = [
  ['the keys of secrets', (it) => countSecretKeys(it, listed)],
  [
    'orders with a secret of another key',
    (it) =>
      findSecretOrders(it, {
        destinations: listed,
        except: 'key-1',
        after: 'order-5',
        limit,
      }),
  ],
]

test.each(secretQueries)(
  'in SQLite, %s: the index of secrets',
  async (_, ask) => {
    const sqlite = new Database(file)
    const [query] = await record(
      (log) =>
        new Kysely({ dialect: new SqliteDialect({ database: sqlite }), log }),
      sqliteDialect,
      ask,
    )
    const { sql = '', parameters = [] } = query ?? {}
    const plan = sqlite
      .prepare(`explain query plan ${sql}`)
      .all([...parameters])
      .map((step) => String(Reflect.get(Object(step), 'detail')))
    sqlite.close()
    const steps = plan.filter((step) =>
      /(attempts|transactions|orders)/.test(step),
    )
    expect(new Set(steps.map((step) => step.replace(/ \(.*/, '')))).toEqual(
      new Set(
        ask === secretQueries[0]?.[1]
          ? [
              'SCAN attempts USING INDEX attempts_sealed',
              'SCAN transactions USING INDEX transactions_sealed',
              'SEARCH transactions USING INDEX sqlite_autoindex_transactions_1',
              'SEARCH orders USING INDEX orders_id',
            ]
          : [
              'SEARCH attempts USING INDEX attempts_sealed',
              'SEARCH transactions USING INDEX transactions_sealed',
              'SEARCH transactions USING INDEX sqlite_autoindex_transactions_1',
              'SEARCH orders USING INDEX orders_id',
            ],
      ),
    )
  },
)

test.each(secretQueries)(
  'in PostgreSQL, %s: the index of secrets',
  async (_, ask) => {
    const text = JSON.stringify(await explain(ask, 'format json'))
    expect(text).toContain('"Index Name":"attempts_sealed"')
    expect(text).toContain('"Index Name":"transactions_sealed"')
    expect(text).not.toMatch(
      /"Seq Scan"[^}]*"Relation Name":"(attempts|transactions)"/,
    )
  },
)

const flat = queries.filter(([name]) =>
  /^(what a submitter|how many orders)/.test(name),
)

test('in PostgreSQL, the claim of a submitter and the count of orders touch as much of 100,000 orders as of 1,000', async () => {
  const touched = async () => {
    const pages: number[] = []
    for (const [, , ask] of flat) {
      const [plan] = await explain(ask, 'analyze, buffers, format json')
      const { 'Shared Hit Blocks': hit = 0, 'Shared Read Blocks': read = 0 } =
        plan ?? {}
      pages.push(hit + read)
    }
    return pages
  }
  const few = await touched()
  await fillOrders(99_000, 1_000)
  await pool.query('vacuum analyze orders')
  const many = await touched()
  expect(few).toHaveLength(4)
  for (const [at, pages] of few.entries()) {
    expect(pages).toBeGreaterThan(0)
    expect(many[at]).toBeLessThan(pages * 2 + 10)
  }
})

test.each(queries)('in PostgreSQL, %s: an index', async (_, index, ask) => {
  const text = JSON.stringify(await explain(ask, 'format json'))
  expect(text).toMatch(new RegExp(`"Index Name":"${index}"`))
  expect(text).not.toContain('Seq Scan')
})

// PostgreSQL would rather read tables as small as these from end to end.
test.each(keyQueries)('in PostgreSQL, %s: an index', async (_, index, ask) => {
  await pool.query('set enable_seqscan = off')
  const text = JSON.stringify(await explain(ask, 'format json'))
  await pool.query('reset enable_seqscan')
  expect(text).toMatch(new RegExp(`"Index Name":"${index}"`))
  expect(text).not.toContain('Seq Scan')
})

type Plan = { [member: string]: number }

async function explain(
  ask: ((finder: Finder) => Promise<unknown>) | undefined,
  options: string,
): Promise<Plan[]> {
  const statements = await record(
    (log) => new Kysely({ dialect: new PostgresDialect({ pool }), log }),
    postgresDialect,
    ask,
  )
  const plans: Plan[] = []
  for (const { sql, parameters } of statements) {
    const { rows } = await pool.query(`explain (${options}) ${sql}`, [
      ...parameters,
    ])
    plans.push(rows[0]['QUERY PLAN'][0].Plan)
  }
  return plans
}

/** The statements a question leads to. */
async function record(
  connect: (log: (event: { query: CompiledQuery }) => void) => Kysely<unknown>,
  dialect: SqlDialect,
  ask?: (finder: Finder) => Promise<unknown>,
): Promise<CompiledQuery[]> {
  const statements: CompiledQuery[] = []
  const session = connect(({ query }) => statements.push(query))
  const finder = {
    session: session as SqlSession,
    dialect,
    locks: false,
    sides: bothSides,
  }
  // An update finds no row of that version, which is as good here.
  await ask?.(finder).catch(() => undefined)
  const [first, ...others] = statements
  // It then searches the archive for the row, and before that for its new nonce.
  const asked = others.filter(
    ({ sql }) => !/^\s*(select distinct "kept"|update )/.test(sql),
  )
  // Nothing decodes the addresses of this pool, so they look like others and
  // are named in a second statement.
  expect(asked.length).toBeLessThanOrEqual(ask && unnamed.has(ask) ? 1 : 0)
  return first ? [first] : []
}
