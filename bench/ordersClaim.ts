import { postgresStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import {
  startDatabase,
  type TestDatabase,
} from '../test/chain/support/database.js'
import type { Row } from './compare.js'
import { sized } from './sized.js'

const few = sized(1_000, 100)
const claims = sized(500, 10)

const bytes = (digit: string) => `0x${digit.repeat(40)}` as const
const submitter = { chainId: 1, account: bytes('3') }
const recipient = bytes('2')

/** What a worker takes of the orders that are due, among many and among few. */
export async function benchOrdersClaim(rows: number): Promise<Row[]> {
  const database = await startDatabase()
  const stores: PaymentStore[] = []
  try {
    const small = await fillStore(database, few)
    stores.push(small)
    const large = await fillStore(database, rows)
    stores.push(large)
    const times: [number[], number[]] = [[], []]
    for (let round = -50; round < claims; round++)
      for (const at of round % 2 ? [0, 1] : [1, 0]) {
        const time = await claim(at ? large : small)
        if (round >= 0) times[at ? 1 : 0].push(time)
      }
    const [before, after] = times.map((all) => percentile(all, 0.99))
    const ratio = (3 * (before ?? Number.NaN)) / (after ?? Number.NaN)
    return [
      {
        name: `claim of due orders, p99 ${after?.toFixed(1)} ms`,
        peer: `3 times that of ${few} rows, ${before?.toFixed(1)} ms`,
        ratio,
        goal: 1,
        unit: 'time',
      },
    ]
  } finally {
    for (const store of stores) await store.close()
    await database.stop()
  }
}

/** Milliseconds of one unit of work that claims a hundred orders. */
async function claim(store: PaymentStore): Promise<number> {
  const start = performance.now()
  const query = {
    sendDue: submitter,
    recipients: [recipient],
    until: 2n ** 40n,
  }
  const due = await store.write(({ orders }) =>
    orders.find({ ...query, limit: 100 }),
  )
  const time = performance.now() - start
  if (due.length === 0) throw new Error('Nothing is due.')
  return time
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
}

/** Orders that were paid long ago, and one in ten that is due. */
async function fillStore(
  database: TestDatabase,
  rows: number,
): Promise<PaymentStore> {
  const name = `orders${rows}`
  const store = postgresStore({ connectionString: await database.create(name) })
  await store.open()
  await database.ask(
    `insert into countersign.orders (id, version, sequence, chain_id, token,
      recipient, submitter, state, attempt, value, decimals, primary_type,
      token_name, token_version, payer, buyer_token_hash, metadata,
      created_at, deadline, send_due, look_due, tries, needs_review,
      unexpected, overpaid, finality, settled_block)
    select 'order-' || n, 1, 1, 1, decode(repeat('11', 20), 'hex'),
      decode(repeat('22', 20), 'hex'), decode(repeat('33', 20), 'hex'),
      case when n % 10 = 0 then 'stored' else 'captured' end, 1, 1, 6,
      'ReceiveWithAuthorization', 'USD Coin', '2',
      decode(md5((n % 5000)::text) || '00000000', 'hex'),
      sha256(n::text::bytea), '{}', n, n,
      case when n % 10 = 0 then n end, case when n % 10 = 0 then n end,
      0, false, false, false,
      case when n % 10 > 0 then 'finalized' end,
      case when n % 10 > 0 then n end
    from generate_series(1, ${rows}) as n`,
    name,
  )
  await database.ask('vacuum analyze countersign.orders', name)
  return store
}
