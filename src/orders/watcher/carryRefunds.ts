import type { Address, Hex } from 'viem'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { inTime } from '../../core/wait.js'
import { SendError } from '../../payments/capture/errors.js'
import { addTypes } from '../../payments/message/paymentTypedData.js'
import { SigningDeclinedError } from '../../payments/sign/errors.js'
import { signWithWallet } from '../../payments/sign/signWithWallet.js'
import { LeaseLostError } from '../../store/errors.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import { limitTo } from '../loop/limitTo.js'
import { loadRefund, loadRefunded } from '../model/loadRefund.js'
import { refundPaymentOf } from '../model/paymentOf.js'
import { hasNonce, isRefund } from '../model/refundRow.js'
import type { RefundRow, StoredRefund } from '../model/storedOrder.js'
import { storeSigned } from '../model/storeSigned.js'
import { isSuspended } from '../model/storeState.js'
import { adoptRefund } from './adoptRefund.js'
import { giveUpRefund } from './giveUpRefund.js'
import { refundedPayment } from './planRefundNonce.js'
import { type Offer, prepareRefund, type RefundView } from './prepareRefund.js'
import { type Apart, openApart } from './tryStep.js'
import type { SureWatch, WatchMemory } from './watchState.js'

export const refundsStep = 'refunds'

const pageSize = 100

/** Most milliseconds that a poll waits for the signatures that it requested. */
const longestWait = 1000

/**
 * Prepares requested refunds: once the capture is final, gives each refund its
 * nonce and window, and has the recipient's wallet sign it. The submitter then
 * sends it like a capture. A refund that fails is tried again later and stops
 * no other.
 *
 * Slow nodes and wallets continue in the background, so that many refunds do
 * not stop the polls. While sending is suspended (until `resume`), signs
 * nothing, and only writes refunds that the chain shows and the store lacks.
 */
export async function carryRefunds(
  context: OrdersContext,
  watch: SureWatch,
): Promise<void> {
  const { destinations, heads, sure, client, lease, memory } = watch
  const time = heads.latest.timestamp
  const parts = openApart(watch, { step: refundsStep, time })
  const finalized = sure.finalized?.number
  const signable: Signable[] = []
  let after: bigint | undefined
  while (memory.due.refunds) {
    const { rows, suspended } = await context.store.read(async (tables) => {
      const rows = await tables.orders.find({
        refundsDue: destinations,
        after,
        limit: pageSize,
      })
      return { rows, suspended: rows.length > 0 && (await isSuspended(tables)) }
    })
    for (const row of rows) {
      if (!isRefund(row) || parts.isWaiting(row.id)) continue
      if (memory.storing.has(row.id)) continue
      try {
        const view = { client, finalized, time, lease, suspended }
        const found = await carryOne(context, view, row)
        if (found) signable.push(found)
      } catch (error) {
        if (error instanceof LeaseLostError) throw error
        parts.put(row.id, error, { destination: row })
      }
    }
    after = rows.at(-1)?.position
    if (rows.length < pageSize) break
  }
  const isTried = [...memory.storing, ...signable.map(({ row }) => row.id)]
  parts.close(new Set(isTried))
  const view = { client, finalized, time, lease, suspended: false }
  const begun = [...groupByRecipient(signable)].flatMap(([recipient, own]) =>
    memory.signing.has(recipient)
      ? []
      : beginSigning(context, view, { signable: own, parts, memory }),
  )
  // Wait for at most a second: a signer or sealer may hang, and a person who
  // signs may take minutes.
  if (begun.length)
    await inTime<unknown>(Promise.all(begun), longestWait, () => undefined)
}

function groupByRecipient(
  signable: readonly Signable[],
): ReadonlyMap<Address, Signable[]> {
  const groups = new Map<Address, Signable[]>()
  for (const one of signable) {
    const group = groups.get(one.row.recipient)
    if (group) group.push(one)
    else groups.set(one.row.recipient, [one])
  }
  return groups
}

/**
 * Starts signing the refunds of one wallet. Polls and other wallets continue
 * meanwhile.
 */
function beginSigning(
  context: OrdersContext,
  view: RefundView,
  {
    signable,
    parts,
    memory: { signing, storing },
  }: { signable: readonly Signable[]; parts: Apart; memory: WatchMemory },
): Promise<unknown>[] {
  const [first] = signable
  if (!first) return []
  const { recipient } = first.row
  const stored: Promise<void>[] = []
  const signed = signAll(context, view, { signable, parts, storing, stored })
    .finally(() => signing.delete(recipient))
    .then(() => Promise.all(stored))
  signing.set(recipient, signed)
  return [signed]
}

/** A refund that waits for its signature, and the wallet to ask. */
type Signable = { row: RefundRow; wallet: OrderWallet }

/**
 * Signs one refund after the other. Sets the window of each just before it is
 * signed, so that a slow signer does not use up the windows of the rest.
 */
async function signAll(
  context: OrdersContext,
  view: RefundView,
  {
    signable,
    parts,
    storing,
    stored,
  }: {
    signable: readonly Signable[]
    parts: Apart
    storing: Set<string>
    /**
     * Gets the promise of each signature that is being stored, so that the
     * caller can wait for all.
     */
    stored: Promise<void>[]
  },
): Promise<void> {
  const getTime = openClock(view)
  const limit = limitTo(mostStored, longestWait)
  let isLost = false
  const put = (row: RefundRow, error: unknown) => {
    // Another process has taken over the lease, and signs the refunds.
    if (error instanceof LeaseLostError) isLost = true
    else parts.put(row.id, error, { destination: row })
  }
  for (const one of signable) {
    if (context.signal?.aborted || isLost) break
    const { id } = one.row
    try {
      const store = await signOne(
        context,
        { ...view, time: await getTime() },
        one,
      )
      // Store this signature while the next refund is signed, because the
      // sealer may be slow.
      storing.add(id)
      const ended = limit(store)
        .then(
          () => parts.clear(id),
          (error: unknown) => put(one.row, error),
        )
        .finally(() => storing.delete(id))
      stored.push(ended)
    } catch (error) {
      put(one.row, error)
    }
  }
}

/** Most signatures that are encrypted and stored at the same time. */
const mostStored = 50

/**
 * Encrypts and stores the signature of a refund, or writes that the signer
 * declined.
 */
type StoreSignature = () => Promise<void>

const nothingToStore: StoreSignature = async () => undefined

/** Milliseconds after which the time of a block must be read again. */
const newEnough = 1000

/**
 * Returns a function that gives the chain's time, and reads it again when the
 * last reading is too old.
 */
function openClock({ client, time: first }: RefundView): () => Promise<bigint> {
  let time = first
  let readAt = performance.now()
  return async () => {
    const now = performance.now()
    if (now - readAt < newEnough) return time
    const head = await getBlockHead(client, 'latest')
    if (!head || head.timestamp < time) return time
    time = head.timestamp
    readAt = now
    return time
  }
}

/**
 * Loads a refund again, gives it a nonce and a window if it has none, and has
 * it signed.
 */
async function signOne(
  context: OrdersContext,
  view: RefundView,
  { row: { id }, wallet }: Signable,
): Promise<StoreSignature> {
  const { store, policy } = context
  const { refund, suspended } = await store.read(async (tables) => ({
    refund: await loadRefund(tables, id),
    suspended: await isSuspended(tables),
  }))
  if (suspended || refund?.row.state !== 'drafted') return nothingToStore
  const { row } = refund
  if (row.reason === 'consumed') return nothingToStore
  const isOffered = row.lookDue !== undefined
  if (isOffered && !hasNonce(refund.stored.attempt)) return nothingToStore
  const offer: Offer = isOffered
    ? { ok: true, refund }
    : await prepareRefund(context, view, { row, window: policy.window })
  if (!offer.ok) return nothingToStore
  const end = offer.refund.stored.attempt.validBefore
  if (view.time + policy.safetyMargin >= end) return nothingToStore
  return signRefund(context, view.lease, { refund: offer.refund, wallet })
}

/**
 * Returns the refund if a wallet of this instance can sign it now. If the
 * refund's nonce was used, or sending is suspended, only writes transfers that
 * the store lacks.
 */
async function carryOne(
  context: OrdersContext,
  view: RefundView,
  row: RefundRow,
): Promise<Signable | undefined> {
  if (row.reason === 'consumed') {
    await adoptConsumed(context, view, row)
    return undefined
  }
  if (view.suspended) {
    const { window } = context.policy
    const isOffered = row.lookDue !== undefined
    if (!isOffered) await prepareRefund(context, view, { row, window })
    return undefined
  }
  const wallet = walletOf(context, row)
  return wallet && { row, wallet }
}

/**
 * Writes the transfer that used a refund's nonce in a final block. Another
 * database signed it, with another amount.
 */
async function adoptConsumed(
  context: OrdersContext,
  view: RefundView,
  row: RefundRow,
): Promise<void> {
  const { refund, found } = await context.store.read(async (tables) => ({
    refund: await loadRefund(tables, row.id),
    found: await loadRefunded(tables, row.parentId),
  }))
  const payment = found && refundedPayment(found, row)
  if (!refund || !payment) return
  const { attempt: holder } = refund.stored
  const next = { nonce: holder.nonce, holder }
  await adoptRefund(context, view, { payment, next })
}

function walletOf(
  { wallets }: Pick<OrdersContext, 'wallets'>,
  { chainId, recipient }: Pick<RefundRow, 'chainId' | 'recipient'>,
): OrderWallet | undefined {
  return wallets.find(
    ({ submitter }) =>
      submitter.chainId === chainId && submitter.account === recipient,
  )
}

async function signRefund(
  context: OrdersContext,
  lease: RefundView['lease'],
  { refund, wallet }: { refund: StoredRefund; wallet: OrderWallet },
): Promise<StoreSignature> {
  const { row, stored } = refund
  const { signTimeout, walletTimeout } = context.policy
  const isLocal = wallet.account.type === 'local'
  const timeout = isLocal ? signTimeout : walletTimeout
  const { client, account } = wallet
  const payment = refundPaymentOf(row, stored.attempt)
  const signer = { account, request: client.request }
  const signature = await inTime<Hex | 'declined'>(
    signWithWallet(signer, addTypes(payment), row.recipient).catch(
      (error: unknown) => {
        if (error instanceof SigningDeclinedError) return 'declined'
        throw error
      },
    ),
    timeout,
    () => {
      const words = `the signer did not answer within ${timeout} ms`
      throw new SendError({ words, retryable: true, maybeSent: false })
    },
  )
  return async () => {
    if (signature === 'declined')
      await giveUpRefund(context, row, { reason: 'signingDeclined', lease })
    else await storeSigned(context, refund, { signature, lease })
  }
}
