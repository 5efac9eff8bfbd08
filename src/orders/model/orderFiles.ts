import type {
  AttemptQuery,
  AttemptRecord,
  OrderQuery,
  OrderRecord,
  ProofQuery,
  ProofRecord,
  Reader,
  TransactionQuery,
  TransactionRecord,
} from '../../store/types.js'
import { type Changes, joinChanges, noChanges } from './changes.js'

/** An order with all that is on record about it. */
export type WholeFile = {
  order: OrderRecord
  attempts: readonly AttemptRecord[]
  proofs: readonly ProofRecord[]
  transactions: readonly TransactionRecord[]
}

/** Where the rows of files are found, while writing or only reading. */
export type FileTables = {
  orders: Reader<OrderRecord, OrderQuery>
  attempts: Reader<AttemptRecord, AttemptQuery>
  proofs: Reader<ProofRecord, ProofQuery>
  transactions: Reader<TransactionRecord, TransactionQuery>
}

/** The files of orders by id, in four reads for all. */
export async function readFiles(
  tables: FileTables,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WholeFile>> {
  const orderIds = [...new Set(ids)]
  if (!orderIds.length) return new Map()
  const orders = await tables.orders.find({ ids: orderIds })
  const attempts = groupRows(await tables.attempts.find({ orderIds }))
  const proofs = groupRows(await tables.proofs.find({ orderIds }))
  const sent = groupRows(await tables.transactions.find({ orderIds }))
  return new Map(
    orders.map((order) => [
      order.id,
      {
        order,
        attempts: attempts.get(order.id) ?? [],
        proofs: proofs.get(order.id) ?? [],
        transactions: sent.get(order.id) ?? [],
      },
    ]),
  )
}

function groupRows<row extends { orderId: string | undefined }>(
  rows: readonly row[],
): ReadonlyMap<string, row[]> {
  const groups = new Map<string, row[]>()
  for (const row of rows) {
    const id = row.orderId ?? ''
    const group = groups.get(id)
    if (group) group.push(row)
    else groups.set(id, [row])
  }
  return groups
}

/** One thing that happens to an order, on the file as it is by then. */
export type Step = (file: WholeFile) => Changes

/** Lets one thing happen after the other, in one unit of work. */
export function takeSteps(file: WholeFile, steps: readonly Step[]): Changes {
  let changes = noChanges()
  let current = file
  for (const step of steps) {
    const next = step(current)
    current = advanceFile(current, next)
    changes = keepLast(joinChanges([changes, next]))
  }
  // An order that is over is looked at many times before that is final.
  const attempts = changes.attempts.filter(
    (attempt) => !file.attempts.some((before) => isAlike(before, attempt)),
  )
  return { ...changes, attempts }
}

function isAlike(before: AttemptRecord, after: AttemptRecord): boolean {
  const values = new Map<string, unknown>(Object.entries(before))
  return Object.entries(after).every(
    ([name, value]) => values.get(name) === value,
  )
}

const attemptKey = ({ orderId, number }: AttemptRecord) =>
  `${orderId}/${number}`

const proofKey = (proof: Pick<ProofRecord, 'transactionHash' | 'logIndex'>) =>
  `${proof.transactionHash}/${proof.logIndex}`

const transactionKey = (sent: TransactionRecord) =>
  `${sent.chainId}/${sent.account}/${sent.nonce}/${sent.bump}`

function advanceFile(file: WholeFile, changes: Changes): WholeFile {
  const added = changes.newProofs.map((proof) => ({ ...proof, version: 1 }))
  const proofs = [...file.proofs, ...added, ...changes.proofs]
  const attempts = [...file.attempts, ...changes.attempts]
  const sent = [...file.transactions, ...changes.transactions]
  return {
    order: changes.orders.at(-1) ?? file.order,
    attempts: lastOf(attempts, attemptKey),
    proofs: lastOf(proofs, proofKey),
    transactions: lastOf(sent, transactionKey),
  }
}

/** A row is written once in a unit of work: as it is in the end. */
function keepLast(changes: Changes): Changes {
  return {
    ...changes,
    orders: lastOf(changes.orders, ({ id }) => id),
    attempts: lastOf(changes.attempts, attemptKey),
    transactions: lastOf(changes.transactions, transactionKey),
    proofs: lastOf(changes.proofs, proofKey),
  }
}

function lastOf<row>(rows: readonly row[], keyOf: (row: row) => string): row[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()]
}
