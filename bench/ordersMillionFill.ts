import Database from 'libsql'

/** What the rows of a filled database are of. */
export type FilledShop = {
  chainId: number
  token: string
  recipient: string
  /** All orders; the last `open` of them are drafted or stored. */
  orders: number
  open: number
  /** The first so many are in the archive. */
  archived: number
  /** Orders of one block. */
  perBlock: number
  /** Unix seconds of the chain. */
  now: number
}

/** Payers, who take turns. */
export const numPayers = 5_000

/** SQL that differs between the engines. */
type Words = {
  /** Numbers, as rows of a column `n`. */
  series(first: number, last: number): string
  /** A number as so many bytes. */
  bytes(number: string, length: number): string
  hex(text: string): string
  amount(text: string): string
  /** Has the database number the orders on from here. */
  numberFrom(last: number): readonly string[]
}

const sqlite: Words = {
  series: (first, last) =>
    `(with recursive t(n) as (select ${first} union all select n + 1 from t
      where n < ${last}) select n from t)`,
  bytes: (number, length) => `unhex(printf('%0${length * 2}x', ${number}))`,
  hex: (text) => `x'${text.slice(2)}'`,
  amount: (text) => `'${text}'`,
  // It numbers on from the highest.
  numberFrom: () => [],
}

const postgres: Words = {
  series: (first, last) =>
    `(select n from generate_series(${first}, ${last}) as t(n)) as t`,
  bytes: (number, length) =>
    `decode(lpad(to_hex(${number}), ${length * 2}, '0'), 'hex')`,
  hex: (text) => `decode('${text.slice(2)}', 'hex')`,
  amount: (text) => text,
  numberFrom: (last) => [
    `select setval(pg_get_serial_sequence('orders', 'position'), ${last})`,
  ],
}

/** Fills the tables of an SQLite file. */
export function fillSqlite(file: string, shop: FilledShop): void {
  const database = new Database(file)
  // A crash during the filling costs nothing.
  for (const pragma of ['synchronous = off', 'cache_size = -400000'])
    database.exec(`pragma ${pragma}`)
  for (const statement of fillStatements(sqlite, shop)) database.exec(statement)
  database.exec('pragma wal_checkpoint(truncate)')
  database.close()
}

/** Fills the tables of PostgreSQL, and builds their indexes afterwards. */
export async function fillPostgres(
  ask: (text: string) => Promise<Record<string, unknown>[]>,
  shop: FilledShop,
): Promise<void> {
  const within = 'set search_path to countersign;'
  const found = await ask(`select indexname as name, indexdef as text
    from pg_indexes where schemaname = 'countersign'
    and indexname not like '%pkey'`)
  for (const { name } of found) await ask(`${within} drop index ${name}`)
  await ask(`${within} ${fillStatements(postgres, shop).join(';\n')}`)
  for (const { text } of found)
    await ask(`set maintenance_work_mem to '1GB'; ${text}`)
  await ask('vacuum analyze')
}

function fillStatements(words: Words, shop: FilledShop): string[] {
  const { orders, archived } = shop
  return [
    'begin',
    ...(archived > 0
      ? fillRange(words, shop, {
          first: 1,
          last: archived,
          prefix: 'archived_',
        })
      : []),
    ...fillRange(words, shop, {
      first: archived + 1,
      last: orders,
      prefix: '',
    }),
    ...words.numberFrom(orders),
    `update counters set last = ${orders * 3} where name = 'events'`,
    `insert into counters (name, last)
    select 'orders ${shop.chainId} ${shop.token} ${shop.recipient} ' || state, count(*)
    from (select state from orders union all select state from archived_orders) as t
    group by state`,
    'commit',
  ]
}

/**
 * Orders of which 90 in 100 were captured, and others ended in each other way;
 * with what belongs to them. The last ones of the shop are open.
 */
function fillRange(
  words: Words,
  shop: FilledShop,
  { first, last, prefix }: { first: number; last: number; prefix: string },
): string[] {
  const { bytes, hex, amount } = words
  const { chainId, orders, open, perBlock, now } = shop
  const settled = orders - open
  const token = hex(shop.token)
  const recipient = hex(shop.recipient)
  const destination = `${chainId}, ${token}, ${recipient}`
  const payer = bytes(`n % ${numPayers} + 1`, 20)
  const block = `(n - 1) / ${perBlock} + 1`
  const made = `${now} - (${orders} - n) / 100`
  const isOpen = `n > ${settled}`
  const isStored = `(${isOpen} and n % 2 = 0)`
  const isCaptured = `(n <= ${settled} and n % 100 < 90)`
  const state = `case when ${isStored} then 'stored'
    when ${isOpen} then 'drafted' when ${isCaptured} then 'captured'
    when n % 100 < 96 then 'expired' when n % 100 < 98 then 'canceled'
    when n % 100 = 98 then 'voided' else 'consumed' end`
  const isKnown = `(${isStored} or n <= ${settled})`
  const numbers = words.series(first, last)
  const captured = `${numbers} where ${isCaptured}`
  return [
    `insert into ${prefix}orders (position, id, version, sequence, chain_id, token, recipient,
      submitter, state, attempt, value, decimals, primary_type, token_name,
      token_version, payer, buyer_token_hash, metadata, created_at, deadline,
      look_due, tries, needs_review, unexpected, overpaid, fulfilled, finality,
      settled_hash, settled_block)
    select n, 'order-' || n, 3, 3, ${destination}, ${recipient}, ${state}, 1,
      ${amount('1000000')}, 6, 'ReceiveWithAuthorization', 'USD Coin', '2',
      case when ${isKnown} then ${payer} end, ${bytes('n', 32)},
      '{"cart":["tea",2]}', ${made}, ${made} + 100000,
      case when ${isOpen} then ${made} + 90000 end, 0, false, false, false,
      case when ${isCaptured} then 'order-' || n end,
      case when n <= ${settled} then 'finalized' end,
      case when ${isCaptured} then ${bytes('n', 32)} end,
      case when n <= ${settled} then ${block} end
    from ${numbers}`,
    `insert into ${prefix}attempts (order_id, number, version, chain_id, token, nonce,
      payer, valid_after, valid_before, signed_after, signed_before,
      signature_hash, spendable_until, value, spendable, signature)
    select 'order-' || n, 1, 2, ${chainId}, ${token}, ${bytes('n', 32)},
      case when ${isKnown} then ${payer} end, ${made}, ${made} + 100000,
      ${made}, ${made} + 100000, ${bytes('n', 32)}, ${made} + 100000,
      ${amount('1000000')}, ${isStored},
      case when ${isStored} then 'none a signature' end
    from ${numbers}`,
    `insert into ${prefix}transactions (chain_id, account, nonce, bump, version, kind,
      order_id, attempt, hash, gas, max_fee_per_gas, max_priority_fee_per_gas,
      recorded_at, in_flight)
    select ${chainId}, ${recipient}, n, 0, 2, 'capture', 'order-' || n, 1,
      ${bytes('n', 32)}, ${amount('90000')}, ${amount('2000000')},
      ${amount('1000000')}, ${made}, false
    from ${captured}`,
    `insert into ${prefix}proofs (chain_id, transaction_hash, log_index, version, token,
      recipient, kind, order_id, attempt, block_hash, block_number, block_time,
      payer, value, submitter, gas_used, effective_gas_price, removed)
    select ${chainId}, ${bytes('n', 32)}, (n - 1) % ${perBlock}, 1, ${token},
      ${recipient}, 'capture', 'order-' || n, 1, ${bytes(block, 32)}, ${block},
      ${made}, ${payer}, ${amount('1000000')}, ${recipient},
      ${amount('79000')}, ${amount('1000000')}, false
    from ${captured}`,
    ...['drafted', 'accepted', 'captured'].map(
      (
        type,
        at,
      ) => `insert into ${prefix}events (cursor, order_id, sequence, type, at,
      chain_id, token, recipient, data)
    select (n - 1) * 3 + ${at + 1}, 'order-' || n, ${at + 1}, '${type}',
      1750000000000, ${destination}, '{"finality":"safe"}'
    from ${numbers}`,
    ),
  ]
}
