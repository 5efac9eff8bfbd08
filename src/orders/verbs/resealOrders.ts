import { checkMembers } from '../../core/checkMembers.js'
import {
  resealAllAuthorizers,
  sealAgain,
} from '../../store/storedAuthorizers.js'
import type {
  AttemptRecord,
  SealContext,
  TransactionRecord,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { loadOrders, loadTransactions } from '../model/loadOrders.js'
import { sealContextOf } from '../model/paymentOf.js'
import { sealOf } from '../sending/signDrafts.js'
import { resealVouchers } from './resealVouchers.js'

/** Parameters of `reseal`: when to stop. */
export type ResealParameters = {
  /** Ends `reseal` after the orders that it is working on. */
  signal?: AbortSignal | undefined
}

/** Result of `reseal`. */
export type ResealReport = {
  /** Number of secrets encrypted again with the current key. */
  resealed: number
  /**
   * Number of secrets left unchanged: they could not be decrypted, or the
   * sealer or one of its keys was unavailable.
   */
  left: number
}

/**
 * Number of orders whose secrets are encrypted again in one database
 * transaction.
 */
const pageSize = 50

/** Implements `reseal` of `Orders`. */
export async function resealOrders(
  context: OrdersContext,
  parameters: ResealParameters,
): Promise<ResealReport> {
  checkMembers(parameters, ['signal'])
  const reports = [
    await resealPayments(context),
    await resealVouchers(context),
    await resealAllAuthorizers(context),
  ]
  const total = { resealed: 0, left: 0 }
  for (const report of reports) {
    total.resealed += report.resealed
    total.left += report.left
  }
  return total
}

async function resealPayments(context: OrdersContext): Promise<ResealReport> {
  const { store, sealer, destinations, signal } = context
  const total = { resealed: 0, left: 0 }
  let after: string | undefined
  while (true) {
    signal?.throwIfAborted()
    const query = {
      destinations,
      except: sealer.current,
      after,
      limit: pageSize,
    }
    const ids = await store.read(({ secrets }) => secrets.findOrderIds(query))
    if (ids.length === 0) return total
    const { resealed, left } = await resealPage(context, ids)
    total.resealed += resealed
    total.left += left
    after = ids.at(-1)
  }
}

async function resealPage(
  context: OrdersContext,
  ids: readonly string[],
): Promise<ResealReport> {
  const secrets = await loadSecrets(context, ids)
  // Encrypt them in parallel, because a key service may take long for each.
  const texts = await Promise.all(
    secrets.map(({ sealed, place }) => sealAgain(context, sealed, place)),
  )
  const changes = new Map(
    secrets.flatMap(({ sealed }, at): [string, string][] => {
      const text = texts[at]
      return text === undefined ? [] : [[sealed, text]]
    }),
  )
  const left = secrets.length - changes.size
  if (changes.size === 0) return { resealed: 0, left }
  return { resealed: await writeSecrets(context, ids, changes), left }
}

type Secret = { sealed: string; place: SealContext }

/** Loads the orders' secrets that were not encrypted with the current key. */
async function loadSecrets(
  { store, sealer }: OrdersContext,
  ids: readonly string[],
): Promise<Secret[]> {
  const { orders, transactions } = await store.read(async (tables) => ({
    orders: await loadOrders(tables, { ids }),
    transactions: await loadTransactions(tables, ids),
  }))
  const found = [...orders.values()].flatMap(({ order, attempts }) =>
    attempts.flatMap((attempt): (Secret | undefined)[] => [
      secretOf(attempt.signature, () =>
        sealContextOf('payment', order, attempt),
      ),
      secretOf(attempt.cancellation, () =>
        sealContextOf('cancellation', order, attempt),
      ),
    ]),
  )
  const sent = transactions.map((row) => secretOf(row.raw, () => sealOf(row)))
  return [...found, ...sent]
    .filter((secret) => secret !== undefined)
    .filter(({ sealed }) => !sealed.startsWith(`${sealer.current} `))
}

function secretOf(
  sealed: string | undefined,
  placeOf: () => SealContext,
): Secret | undefined {
  return sealed === undefined ? undefined : { sealed, place: placeOf() }
}

/**
 * Replaces secrets that have not changed since they were read. Returns how many
 * it replaced.
 */
function writeSecrets(
  context: OrdersContext,
  ids: readonly string[],
  changes: ReadonlyMap<string, string>,
): Promise<number> {
  const replace = (sealed: string | undefined) =>
    sealed === undefined ? undefined : (changes.get(sealed) ?? sealed)
  return writeAgain(context, async (tables) => {
    // Lock the orders before their attempts, as every other write does. Two
    // writes that lock in different sequences could deadlock.
    await tables.orders.find({ ids })
    const attempts = (await tables.attempts.find({ orderIds: ids })).map(
      (row): [AttemptRecord, AttemptRecord] => [
        row,
        {
          ...row,
          signature: replace(row.signature),
          cancellation: replace(row.cancellation),
        },
      ],
    )
    const transactions = (await loadTransactions(tables, ids)).map(
      (row): [TransactionRecord, TransactionRecord] => [
        row,
        { ...row, raw: replace(row.raw) },
      ],
    )
    const signatures = attempts.filter(
      ([before, after]) => before.signature !== after.signature,
    )
    const cancellations = attempts.filter(
      ([before, after]) => before.cancellation !== after.cancellation,
    )
    const bytes = transactions.filter(
      ([before, after]) => before.raw !== after.raw,
    )
    const changed = new Set([...signatures, ...cancellations])
    await tables.attempts.update([...changed].map(([, after]) => after))
    await tables.transactions.update(bytes.map(([, after]) => after))
    return signatures.length + cancellations.length + bytes.length
  })
}
