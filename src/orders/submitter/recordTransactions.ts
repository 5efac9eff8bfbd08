import type { Address, Hash, Hex } from 'viem'
import { untilEnd } from '../../chain/rpc/endingClient.js'
import { inTime, nextTurn } from '../../core/wait.js'
import { SendError } from '../../payments/capture/errors.js'
import { signTransaction } from '../../payments/capture/sendTransaction.js'
import { signFiller } from '../../payments/capture/signFiller.js'
import { DuplicateRecordError, StaleRecordError } from '../../store/errors.js'
import type { SealContext, TransactionRecord } from '../../store/types.js'
import {
  type Changes,
  moveOrder,
  noChanges,
  withEvent,
  writeChanges,
} from '../model/changes.js'
import { endsOf } from '../model/endsOf.js'
import { sealContextOf } from '../model/paymentOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import type { SubmitterFees } from './feesOf.js'
import { nextBump } from './judgeNonces.js'
import { putOffUnsigned, signingOf, type Unsigned } from './putOffUnsigned.js'
import type { DueDraft } from './rehearseDue.js'
import {
  type SubmitterState,
  submitterKey,
  windowKey,
} from './submitterState.js'

/** Bytes that are on record and may leave. */
export type RecordedBytes = { nonce: number; hash: Hash; raw: Hex }

/**
 * Signs, seals and writes down transactions under consecutive nonces from
 * `nextNonce` on, with the orders they are for, before any of them is sent.
 * Leaves out orders that changed in between, or whose transaction is not
 * signed.
 *
 * @param now Unix seconds of the chain.
 */
export async function recordTransactions(
  context: OrdersContext,
  submitter: SubmitterState,
  drafts: readonly DueDraft[],
  fees: SubmitterFees,
  now: bigint,
): Promise<RecordedBytes[]> {
  const recorded: RecordedBytes[] = []
  let failed: Unsigned | undefined
  let left = drafts
  let bumps: readonly number[] = []
  for (let tries = 1; left.length > 0 && tries <= mostTries; tries++) {
    const start = performance.now()
    const { signed, unsigned } = await signDrafts(context, submitter, left, {
      fees,
      bumps,
    })
    const took = performance.now() - start
    const due = await putOffUnsigned(context, submitter, unsigned, {
      now,
      took,
    })
    failed ??= due[0]
    // Nonces must have no gap: sign again all that come after a failure.
    const ready = left.slice(0, signed.length)
    const others = left
      .slice(signed.length)
      .filter((draft) => unsigned.every((one) => one.draft !== draft))
    try {
      await writeSigned(context, submitter, ready, signed)
      recorded.push(...signed.map(({ bytes }) => bytes))
      left = others
      bumps = bumps.slice(signed.length)
    } catch (error) {
      const isStale = error instanceof StaleRecordError
      const isTaken = error instanceof DuplicateRecordError
      if (!(isStale || isTaken) || tries === mostTries) throw error
      left = [...ready, ...others]
      if (isStale) left = await dropStale(context, left)
      // A closed transaction may be on record at one of these nonces.
      else bumps = await readBumps(context, submitter, left.length)
    }
  }
  if (failed && recorded.length === 0) throw failed.error
  return recorded
}

/** Rounds of signing and writing in one tick. */
const mostTries = 5

async function writeSigned(
  context: OrdersContext,
  submitter: SubmitterState,
  drafts: readonly DueDraft[],
  signed: readonly SignedRow[],
): Promise<void> {
  if (drafts.length === 0) return
  const nextNonce = submitter.value.nextNonce + drafts.length
  const value = { ...submitter.value, nextNonce }
  const changes = planRecord(drafts, signed, context.now())
  await context.store.write(
    async (tables) => {
      await writeChanges(tables, changes)
      await tables.setValue(submitterKey(submitter.wallet.submitter), value)
    },
    { lease: submitter.lease },
  )
  keepRecorded(submitter, drafts, { signed, value, changes })
  for (const draft of drafts) submitter.aside.clear(signingOf(draft))
}

/** Reads the next free bump of each of the next nonces. */
function readBumps(
  { store }: OrdersContext,
  { value: { nextNonce }, wallet: { submitter: at } }: SubmitterState,
  count: number,
): Promise<number[]> {
  const nonces = Array.from({ length: count }, (_, place) => nextNonce + place)
  return store.read(async (tables) => {
    const bumps: number[] = []
    for (const nonce of nonces)
      bumps.push(nextBump(await tables.transactions.find({ at, nonce })))
    return bumps
  })
}

/** What nobody wrote to since it was read. */
async function dropStale(
  { store }: OrdersContext,
  drafts: readonly DueDraft[],
): Promise<DueDraft[]> {
  const ids = drafts.map(({ file }) => file.order.id)
  const orders = await store.read((tables) => tables.orders.find({ ids }))
  const versions = new Map(orders.map((row) => [row.id, row.version]))
  return drafts.filter(
    ({ file: { order } }) => versions.get(order.id) === order.version,
  )
}

type SignedRow = {
  row: Omit<TransactionRecord, 'version'>
  bytes: RecordedBytes
}

/** Signed in small groups: requests on their way have to get their turn. */
const groupSize = 10

/**
 * Signs drafts in parallel. Returns those before the first failure, and the
 * failures.
 */
async function signDrafts(
  context: OrdersContext,
  submitter: SubmitterState,
  drafts: readonly DueDraft[],
  { fees, bumps }: { fees: SubmitterFees; bumps: readonly number[] },
): Promise<{ signed: SignedRow[]; unsigned: Unsigned[] }> {
  const unsigned: Unsigned[] = []
  const rows: Promise<SignedRow | undefined>[] = []
  for (const [at, draft] of drafts.entries()) {
    const nonce = submitter.value.nextNonce + at
    const { file, kind, call, gas } = draft
    const { order, attempt } = file
    const row = signRow(context, submitter, {
      ...{ nonce, bump: bumps[at] ?? 0, kind, call, gas, fees },
      ...{ orderId: order.id, attempt: attempt.number },
      seal: sealContextOf('transaction', order, attempt),
    })
    const signing = row.catch((error: unknown) => {
      unsigned.push({ draft, error })
      return undefined
    })
    rows.push(signing)
    if (at % groupSize === groupSize - 1) await nextTurn()
  }
  const signed: SignedRow[] = []
  for (const row of await Promise.all(rows)) {
    if (!row) break
    signed.push(row)
  }
  return { signed, unsigned }
}

/** A transaction to be signed, and what is bound to it. */
export type RowDraft = Pick<
  TransactionRecord,
  'nonce' | 'bump' | 'kind' | 'orderId' | 'attempt' | 'gas'
> & {
  call: { to: Address; data: Hex }
  fees: SubmitterFees
  seal: SealContext
}

/**
 * Signs and seals one transaction; nothing is written or sent. So a signer that
 * never answers can be let go: what it signs later leaves for nowhere.
 *
 * @throws {@link SendError} when the signer fails, or takes longer than
 * `policy.signTimeout`.
 */
export async function signRow(
  { sealer, now, signal, policy: { signTimeout } }: OrdersContext,
  { wallet }: SubmitterState,
  draft: RowDraft,
): Promise<SignedRow> {
  const { call, gas, nonce, fees, seal } = draft
  const { client, account, submitter } = wallet
  const shared = { chainId: submitter.chainId, nonce, gas }
  const sign = () =>
    draft.kind === 'filler'
      ? signFiller(client, account, { ...shared, fees: fees.fields })
      : signTransaction(client, account, { ...call, ...shared, ...fees.fields })
  const signing = signal ? untilEnd(signal, sign) : sign()
  const { hash, raw } = await inTime(signing, signTimeout, () => {
    throw lateSigner(signTimeout)
  })
  const row = rowOf(draft, submitter, now())
  const sealed = await sealer.seal(raw, sealOfRow(seal, row))
  return { row: { ...row, hash, raw: sealed }, bytes: { nonce, hash, raw } }
}

/**
 * Binds the sealed bytes of a transaction to its account nonce and action too,
 * so that bytes of the same attempt cannot be swapped. Pure.
 */
export function sealOfRow(
  seal: SealContext,
  {
    account,
    nonce,
    kind,
  }: Pick<TransactionRecord, 'account' | 'nonce' | 'kind'>,
): SealContext {
  return { ...seal, account, accountNonce: nonce, action: kind }
}

function lateSigner(milliseconds: number): SendError {
  const words = `the signer did not answer within ${milliseconds} ms`
  return new SendError({ words, retryable: true, maybeSent: false })
}

/** The record of a transaction whose bytes are not known. Pure. */
export function rowOf(
  draft: RowDraft,
  { chainId, account }: { chainId: number; account: Address },
  recordedAt: bigint,
): Omit<TransactionRecord, 'version'> {
  const { nonce, bump, kind, orderId, attempt, gas, fees } = draft
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  return {
    ...{ chainId, account, nonce, bump, kind, orderId, attempt, gas },
    ...{ maxFeePerGas, maxPriorityFeePerGas, recordedAt },
    ...{ hash: undefined, raw: undefined, inFlight: true },
  }
}

/** What is written when transactions of orders are put on record. Pure. */
export function planRecord(
  drafts: readonly DueDraft[],
  signed: readonly { row: Omit<TransactionRecord, 'version'> }[],
  at: bigint,
): Changes {
  const moved = drafts.map(({ file, kind }) => startOrder(file, kind, at))
  return {
    ...noChanges(),
    orders: moved.map(({ order }) => order),
    events: moved.map(({ event }) => event),
    newTransactions: signed.map(({ row }) => row),
  }
}

function startOrder(
  { order, attempt }: StoredOrder,
  kind: DueDraft['kind'],
  at: bigint,
): ReturnType<typeof moveOrder> {
  const to = kind === 'capture' ? 'capturing' : 'canceling'
  const event = { type: to, at, data: { attempt: attempt.number } } as const
  const fields = { requested: kind, sendDue: undefined, reason: undefined }
  return order.state === 'voided'
    ? withEvent(order, event, fields)
    : moveOrder(order, to, event, fields)
}

function keepRecorded(
  submitter: SubmitterState,
  drafts: readonly DueDraft[],
  {
    signed,
    value,
    changes,
  }: {
    signed: readonly SignedRow[]
    value: SubmitterState['value']
    changes: Changes
  },
): void {
  submitter.value = value
  for (const order of changes.orders) {
    const found = submitter.due.get(order.id)
    const written = { ...order, version: order.version + 1 }
    // As it was when it was found: else its other rows may have changed too.
    if (found?.order.version === order.version)
      submitter.recorded.set(order.id, { ...found, order: written })
  }
  for (const { row } of signed) submitter.inFlight.push({ ...row, version: 1 })
  for (const { file } of drafts) {
    const { orderId, number } = file.attempt
    const key = windowKey({ orderId, attempt: number })
    submitter.windows.set(key, endsOf(file.attempt))
  }
}
