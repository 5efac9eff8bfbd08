import type { Address, Hash, Hex } from 'viem'
import { untilEnd } from '../../chain/rpc/endingClient.js'
import { inTime, nextTurn } from '../../core/wait.js'
import { SendError } from '../../payments/capture/errors.js'
import { signFiller } from '../../payments/capture/signFiller.js'
import { signTransaction } from '../../payments/capture/signTransaction.js'
import type { SealContext, TransactionRecord } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import type { Aside } from '../loop/putAside.js'
import { apply, rulesOf } from '../model/apply.js'
import { joinChanges, noChanges, writeChanges } from '../model/changes.js'
import { type DueTransaction, idsOf, movementsBy } from './dueTransaction.js'
import type { SubmitterFees } from './feesOf.js'

/**
 * Bytes of a signed transaction. Send them only after they are stored:
 * otherwise a crash could lose a transaction that may be mined.
 */
export type SignedBytes = { nonce: number; hash: Hash; raw: Hex }

/**
 * A signed transaction: the row to store, which has encrypted bytes, and the
 * bytes to send.
 */
type SignedRow = {
  row: Omit<TransactionRecord, 'version'>
  bytes: SignedBytes
}

export type DueLeft = {
  due: readonly DueTransaction[]
  /**
   * For each of them the number of earlier transactions at its nonce; 0 if
   * missing.
   */
  bumps: readonly number[]
}

export type SignedDrafts = {
  /**
   * Signed transactions with consecutive account nonces from `nextNonce` on.
   */
  signed: readonly SignedRow[]
  ready: readonly DueTransaction[]
  bumps: readonly number[]
  /**
   * What to sign again: all after the first failure, because the nonces must
   * have no gap.
   */
  left: DueLeft
}

type Unsigned = { one: DueTransaction; error: unknown }

/** Number of transactions to sign before other work of the process may run. */
const groupSize = 10

/**
 * Signs and encrypts transactions in parallel, with consecutive account nonces from
 * `nextNonce` on. Sends nothing. Orders whose transactions were not signed are
 * tried again later.
 *
 * @param now Unix seconds of the chain.
 */
export async function signDrafts(
  context: OrdersContext,
  submitter: SubmitterState,
  { due, bumps }: DueLeft,
  { fees, now }: { fees: SubmitterFees; now: bigint },
): Promise<SignedDrafts> {
  const start = performance.now()
  const unsigned: Unsigned[] = []
  const rows: Promise<SignedRow | undefined>[] = []
  for (const [at, one] of due.entries()) {
    const { kind, call, gas } = one
    const row = signRow(context, submitter, {
      nonce: submitter.nonces.value.nextNonce + at,
      bump: bumps[at] ?? 0,
      kind,
      call,
      gas,
      fees,
      movements: movementsBy(one),
    })
    const signing = row.catch((error: unknown) => {
      unsigned.push({ one, error })
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
  const took = performance.now() - start
  await putOffUnsigned(context, submitter, unsigned, { now, took })
  return {
    signed,
    ready: due.slice(0, signed.length),
    bumps,
    left: {
      due: due
        .slice(signed.length)
        .filter((one) => unsigned.every((failed) => failed.one !== one)),
      bumps: bumps.slice(signed.length),
    },
  }
}

/**
 * Milliseconds. An order with at least this pause counts as failing repeatedly,
 * because the pause grows with each failure.
 */
const repeated = 400

/** Name under which the list of failures has a failure to sign for an order. */
export const signingOf = (orderId: string): string => `sign:${orderId}`

/**
 * True while an order waits because its signer failed for the first time. After
 * further failures the order gets a later due time instead, until someone
 * requests its capture again.
 */
export function isResting(
  aside: Pick<Aside, 'isWaiting'>,
  orderId: string,
): boolean {
  return aside.isWaiting(signingOf(orderId), repeated - 1)
}

/**
 * Makes orders wait whose transactions were not signed or encrypted. An order
 * that fails repeatedly waits longer each time, so that it does not block the
 * rest.
 */
async function putOffUnsigned(
  context: OrdersContext,
  submitter: SubmitterState,
  unsigned: readonly Unsigned[],
  {
    now,
    took,
  }: {
    /** Chain time in Unix seconds. */
    now: bigint
    /** Milliseconds that the failed signing took. */
    took: number
  },
): Promise<void> {
  // A signer may allow only calls of the token, and a sealer only short texts:
  // payments that could not be signed together go alone, at the next poll.
  const together = unsigned.filter(({ one }) => one.drafts.length > 1)
  for (const { one } of together)
    for (const id of idsOf([one])) submitter.batches.noteLeft(id, 1, false)
  const alone = unsigned.filter((one) => !together.includes(one))
  const paused = alone.flatMap(({ one, error }) =>
    one.drafts.map(({ stored: { order } }) => ({
      order,
      pause: submitter.aside.put(signingOf(order.id), error),
    })),
  )
  // Leave out captures in `joins`, because their callers request them again
  // themselves.
  const late = paused.filter(
    ({ order, pause }) => pause >= repeated && !submitter.joins.has(order.id),
  )
  const dues = new Map(
    late.map(({ order, pause }) => [
      order.id,
      now + BigInt(Math.ceil(Math.max(pause, took) / 1000)),
    ]),
  )
  const versions = new Map(late.map(({ order }) => [order.id, order.version]))
  if (dues.size > 0) await postponeUnsigned(context, submitter, versions, dues)
}

async function postponeUnsigned(
  context: OrdersContext,
  submitter: SubmitterState,
  versions: ReadonlyMap<string, number>,
  dues: ReadonlyMap<string, bigint>,
): Promise<void> {
  await writeAgain(
    context,
    async (tables) => {
      const orders = await tables.orders.find({ ids: [...dues.keys()] })
      const rules = rulesOf(context)
      const changes = orders.map((order) => {
        const until = dues.get(order.id)
        // Leave out orders that changed meanwhile: the next poll decides about
        // them again.
        const isChanged = versions.get(order.id) !== order.version
        return isChanged || until === undefined
          ? noChanges()
          : apply({ order }, { kind: 'postponed', until }, rules)
      })
      await writeChanges(tables, joinChanges(changes), rules.at)
    },
    { lease: submitter.lease },
  )
}

/** A transaction to sign. */
export type RowDraft = Pick<
  TransactionRecord,
  'nonce' | 'bump' | 'kind' | 'movements' | 'gas'
> & {
  call: { to: Address; data: Hex }
  fees: SubmitterFees
}

/**
 * Signs and encrypts one transaction. Writes and sends nothing, so a signer
 * that never answers can be abandoned: if it signs later, nobody sends the
 * result.
 *
 * @throws {@link SendError} when the signer fails, or takes longer than
 * `policy.signTimeout`.
 * @throws {@link SealerUnavailableError} when the sealer fails.
 */
export async function signRow(
  { keccak256, sealer, now, signal, policy: { signTimeout } }: OrdersContext,
  { wallet }: SubmitterState,
  draft: RowDraft,
): Promise<SignedRow> {
  const { call, gas, nonce, fees } = draft
  const { client, account, submitter } = wallet
  const shared = { chainId: submitter.chainId, nonce, gas }
  const sign = () =>
    draft.kind === 'filler'
      ? signFiller(client, account, { ...shared, fees: fees.fields }, keccak256)
      : signTransaction(
          client,
          account,
          { ...call, ...shared, ...fees.fields },
          keccak256,
        )
  const signing = signal ? untilEnd(signal, sign) : sign()
  const { hash, raw } = await inTime(signing, signTimeout, () => {
    throw lateSigner(signTimeout)
  })
  const row = rowOf(draft, submitter, now())
  const sealed = await sealer.seal(raw, sealOf(row))
  return { row: { ...row, hash, raw: sealed }, bytes: { nonce, hash, raw } }
}

export function lateSigner(milliseconds: number): SendError {
  const words = `the signer did not answer within ${milliseconds} ms`
  return new SendError({ words, retryable: true, maybeSent: false })
}

/** Builds the row of a transaction whose bytes are not known. */
export function rowOf(
  draft: RowDraft,
  { chainId, account }: { chainId: number; account: Address },
  recordedAt: bigint,
): Omit<TransactionRecord, 'version'> {
  return {
    chainId,
    account,
    nonce: draft.nonce,
    bump: draft.bump,
    kind: draft.kind,
    movements: draft.movements,
    hash: undefined,
    raw: undefined,
    gas: draft.gas,
    maxFeePerGas: draft.fees.maxFeePerGas,
    maxPriorityFeePerGas: draft.fees.maxPriorityFeePerGas,
    recordedAt,
    inFlight: true,
  }
}

/**
 * Builds the context to which the encrypted bytes of a transaction are bound.
 * They cannot be exchanged for those of another transaction of the account.
 */
export function sealOf({
  chainId,
  account,
  nonce,
  bump,
  kind,
}: Pick<
  TransactionRecord,
  'chainId' | 'account' | 'nonce' | 'bump' | 'kind'
>): SealContext {
  const place = { chainId, account, accountNonce: nonce, bump }
  return { kind: 'transaction', action: kind, ...place }
}
