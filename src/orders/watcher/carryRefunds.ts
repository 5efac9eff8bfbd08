import type { Hex } from 'viem'
import { inTime } from '../../core/wait.js'
import { SendError } from '../../payments/capture/errors.js'
import { addTypes } from '../../payments/message/paymentTypedData.js'
import { SigningDeclinedError } from '../../payments/sign/errors.js'
import { signWithWallet } from '../../payments/sign/signWithWallet.js'
import { LeaseLostError } from '../../store/errors.js'
import { loadRefund, loadRefunded } from '../model/loadRefund.js'
import { refundPaymentOf } from '../model/paymentOf.js'
import { hasNonce, isRefund } from '../model/refundRow.js'
import type { RefundRow, StoredRefund } from '../model/storedOrder.js'
import { storeSigned } from '../model/storeSigned.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import { adoptRefund } from './adoptRefund.js'
import { giveUpRefund } from './giveUpRefund.js'
import { offerRefund, type RefundView } from './offerRefund.js'
import { refundedPayment } from './planOffer.js'
import { type Apart, openApart } from './tryStep.js'
import type { SureWatch } from './watchState.js'

/** The name of this step in the list of failures. */
export const refundsStep = 'refunds'

const pageSize = 100

/**
 * Prepares requested refunds: gives each its nonce and window once its capture
 * is final, and has the recipient's wallet sign it. From then on the submitter
 * carries it like a capture. A refund that fails is put aside; the others go
 * on.
 *
 * While the store waits for `resume` it signs nothing, and only writes the
 * transfers that the record does not know.
 */
export async function carryRefunds(
  context: OrdersContext,
  watch: SureWatch,
): Promise<void> {
  const { destination, heads, sure, client, lease } = watch
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
      suspended: Object(await tables.getValue('store')).suspended === true,
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
  apart.close(new Set(signable.map(({ refund }) => refund.row.id)))
  const { memory } = watch
  if (memory.signing || signable.length === 0) return
  // A signer may hang, and a person may take minutes: the watch goes on.
  memory.signing = signAll(context, lease, { signable, apart }).finally(() => {
    memory.signing = undefined
  })
}

/** A refund that waits for its signature, and the wallet to ask. */
type Signable = { refund: StoredRefund; wallet: OrderWallet }

/** Asks for one signature after the other. */
async function signAll(
  context: OrdersContext,
  lease: RefundView['lease'],
  { signable, apart }: { signable: readonly Signable[]; apart: Apart },
): Promise<void> {
  for (const one of signable) {
    const { id } = one.refund.row
    await signRefund(context, lease, one).then(
      () => apart.clear(id),
      (error: unknown) => apart.put(id, error),
    )
  }
}

/** Returns the refund if it can be signed now. */
async function carryOne(
  context: OrdersContext,
  view: RefundView,
  row: RefundRow,
): Promise<Signable | undefined> {
  if (row.reason === 'consumed') {
    await adoptConsumed(context, view, row)
    return undefined
  }
  const wallet = walletOf(context, row)
  const isOffered = row.lookDue !== undefined
  if (view.suspended ? isOffered : !wallet) return undefined
  const window = context.policy.window
  const offer = isOffered
    ? await loadOffered(context, row)
    : await offerRefund(context, view, { row, window })
  if (!offer.ok || !wallet) return undefined
  const { refund } = offer
  const end = refund.stored.attempt.validBefore
  const isLate = view.time + context.policy.safetyMargin >= end
  return isLate ? undefined : { refund, wallet }
}

async function loadOffered(
  { store }: OrdersContext,
  { id }: RefundRow,
): Promise<{ ok: true; refund: StoredRefund } | { ok: false }> {
  const refund = await store.read((tables) => loadRefund(tables, id))
  const isOpen =
    refund?.row.state === 'drafted' && hasNonce(refund.stored.attempt)
  return isOpen ? { ok: true, refund } : { ok: false }
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
  { refund, wallet }: Signable,
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
