import type { Hex } from 'viem'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { inTime } from '../../core/wait.js'
import { SendError } from '../../payments/capture/errors.js'
import { addTypes } from '../../payments/message/paymentTypedData.js'
import { SigningDeclinedError } from '../../payments/sign/errors.js'
import { signWithWallet } from '../../payments/sign/signWithWallet.js'
import { LeaseLostError } from '../../store/errors.js'
import type { StoreReader } from '../../store/types.js'
import { loadRefund, loadRefunded } from '../model/loadRefund.js'
import { refundPaymentOf } from '../model/paymentOf.js'
import { hasNonce, isRefund } from '../model/refundRow.js'
import type { RefundRow, StoredRefund } from '../model/storedOrder.js'
import { storeSigned } from '../model/storeSigned.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import { adoptRefund } from './adoptRefund.js'
import { giveUpRefund } from './giveUpRefund.js'
import { type Offer, offerRefund, type RefundView } from './offerRefund.js'
import { refundedPayment } from './planOffer.js'
import { type Apart, openApart } from './tryStep.js'
import type { SureWatch } from './watchState.js'

/** The name of this step in the list of failures. */
export const refundsStep = 'refunds'

const pageSize = 100

/** Most milliseconds for which a look waits for refunds that it begins. */
const longestWait = 1000

/**
 * Prepares requested refunds: gives each its nonce and window once its capture
 * is final, and has the recipient's wallet sign it. From then on the submitter
 * carries it like a capture. A refund that fails is put aside; the others go
 * on.
 *
 * If node and wallet take long, they work beside the looks, so that many
 * refunds do not stop the watch. While the store waits for `resume` it signs
 * nothing, and only writes the transfers that the record does not know.
 */
export async function carryRefunds(
  context: OrdersContext,
  watch: SureWatch,
): Promise<void> {
  const { destination, heads, sure, client, lease, memory } = watch
  const time = heads.latest.timestamp
  const apart = openApart(watch, { step: refundsStep, time })
  const finalized = sure.finalized?.number
  const signable: Signable[] = []
  let after: bigint | undefined
  for (;;) {
    const { rows, suspended } = await context.store.read(async (tables) => ({
      rows: await tables.orders.find({
        refundsDue: destination,
        after,
        limit: pageSize,
      }),
      suspended: await isSuspended(tables),
    }))
    for (const row of rows) {
      if (!isRefund(row) || apart.isWaiting(row.id)) continue
      try {
        const view = { client, finalized, time, lease, suspended }
        const found = await carryOne(context, view, row)
        if (found) signable.push(found)
      } catch (error) {
        if (error instanceof LeaseLostError) throw error
        apart.put(row.id, error)
      }
    }
    after = rows.at(-1)?.position
    if (rows.length < pageSize) break
  }
  apart.close(new Set(signable.map(({ row }) => row.id)))
  if (memory.signing || signable.length === 0) return
  const view = { client, finalized, time, lease, suspended: false }
  const signing = signAll(context, view, { signable, apart }).finally(() => {
    memory.signing = undefined
  })
  memory.signing = signing
  // A signer may hang, and a person may take minutes: the watch goes on.
  await inTime(signing, longestWait, () => undefined)
}

async function isSuspended(
  tables: Pick<StoreReader, 'getValue'>,
): Promise<boolean> {
  return Object(await tables.getValue('store')).suspended === true
}

/** A refund that waits for its signature, and the wallet to ask. */
type Signable = { row: RefundRow; wallet: OrderWallet }

/**
 * Asks for one signature after the other. Gives each refund its window just
 * before, so that a slow signer does not use up the windows of the others.
 */
async function signAll(
  context: OrdersContext,
  view: RefundView,
  { signable, apart }: { signable: readonly Signable[]; apart: Apart },
): Promise<void> {
  const getTime = openClock(view)
  for (const one of signable) {
    if (context.signal?.aborted) return
    try {
      await signOne(context, { ...view, time: await getTime() }, one)
      apart.clear(one.row.id)
    } catch (error) {
      // Another process signs them now.
      if (error instanceof LeaseLostError) return
      apart.put(one.row.id, error)
    }
  }
}

/** Milliseconds for which the time of a block is new enough. */
const newEnough = 1000

/** Returns a function that reads the chain's time again once it is old. */
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

/** Loads a refund again, offers it if necessary, and has it signed. */
async function signOne(
  context: OrdersContext,
  view: RefundView,
  { row: { id }, wallet }: Signable,
): Promise<void> {
  const { store, policy } = context
  const { refund, suspended } = await store.read(async (tables) => ({
    refund: await loadRefund(tables, id),
    suspended: await isSuspended(tables),
  }))
  if (suspended || refund?.row.state !== 'drafted') return
  const { row } = refund
  if (row.reason === 'consumed') return
  const isOffered = row.lookDue !== undefined
  if (isOffered && !hasNonce(refund.stored.attempt)) return
  const offer: Offer = isOffered
    ? { ok: true, refund }
    : await offerRefund(context, view, { row, window: policy.window })
  if (!offer.ok) return
  const end = offer.refund.stored.attempt.validBefore
  if (view.time + policy.safetyMargin >= end) return
  await signRefund(context, view.lease, { refund: offer.refund, wallet })
}

/** Returns the refund if it has to be offered or signed. */
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
    if (!isOffered) await offerRefund(context, view, { row, window })
    return undefined
  }
  const wallet = walletOf(context, row)
  return wallet && { row, wallet }
}

/**
 * Writes what spent the nonce of a refund in a final block: a transfer of
 * another amount, which another database signed.
 */
async function adoptConsumed(
  context: OrdersContext,
  view: RefundView,
  row: RefundRow,
): Promise<void> {
  const { refund, found } = await context.store.read(async (tables) => ({
    refund: await loadRefund(tables, row.id),
    found: await loadRefunded(tables, row.refundOf),
  }))
  const payment = found && refundedPayment(found, row)
  if (!refund || !payment) return
  const { attempt: holder } = refund.stored
  const next = { nonce: holder.nonce, holder }
  await adoptRefund(context, view, { payment, next })
}

/** The wallet of the recipient, if this instance has it. */
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
): Promise<void> {
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
  if (signature === 'declined')
    await giveUpRefund(context, row, { reason: 'signingDeclined', lease })
  else await storeSigned(context, refund, { signature, lease })
}
