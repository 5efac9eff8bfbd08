import type { TransactionRecord } from '../../store/types.js'
import { collectChanges } from '../model/collectChanges.js'
import { loadOrders } from '../model/loadOrders.js'
import { putAside } from '../model/putAside.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { feesOf } from './feesOf.js'
import { fillerCall } from './fillerCall.js'
import { findGaps } from './planReplacements.js'
import type { SubmitterView } from './readSubmitter.js'
import { type RowDraft, rowOf, signRow } from './recordTransactions.js'
import { sealOf } from './resendTransactions.js'
import { askWallet } from './sendByWallet.js'
import { sendRecorded } from './sendRecorded.js'
import {
  choosesNonce,
  nonceName,
  type SubmitterState,
} from './submitterState.js'
import { isResting } from './walletRest.js'

/**
 * Gives a free nonce below ones in use something to be used by: what was there
 * before a reorganization, or a transfer to oneself.
 */
export async function fillGaps(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<boolean> {
  if (isResting(submitter, 'filler')) return false
  const { nonces, isWide } = findGaps(submitter, view)
  let isActive = false
  for (const nonce of nonces) {
    const name = nonceName('fill', nonce)
    if (submitter.aside.isWaiting(name)) continue
    try {
      const isFilled = await fillGap(context, submitter, view, {
        nonce,
        isWide,
      })
      isActive ||= isFilled
      submitter.aside.clear(name)
    } catch (error) {
      // A signer may refuse calls of anything but the token: others go on.
      putAside(submitter.aside, name, error)
      // If the signer hangs, it hangs once a look and not for each of many.
      break
    }
    // Stop if the wallet failed, or proved to choose its own nonces.
    if (isResting(submitter, 'filler') || !choosesNonce(submitter)) break
  }
  return isActive
}

async function fillGap(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
  { nonce, isWide }: { nonce: number; isWide: boolean },
): Promise<boolean> {
  const { submitter: at } = submitter.wallet
  const { known, rows } = await context.store.read(async (tables) => {
    const known = await tables.transactions.find({ at, nonce })
    const ids = [...new Set(known.flatMap(({ orderId }) => orderId ?? []))]
    return { known, rows: await loadOrders(tables, { ids }) }
  })
  const collected = collectChanges(rows)
  const signed = known.filter(
    (row) =>
      row.raw !== undefined &&
      isWanted(row, collected.find(row.orderId, row.attempt)),
  )
  if (signed.length > 0) {
    await reopen(context, submitter, signed)
    return true
  }
  // Too many for a few dropped transactions: the node may be wrong.
  if (isWide) return false
  const draft: RowDraft = {
    ...(await fillerCall(submitter)),
    ...{ nonce, bump: known.length, kind: 'filler', fees: feesOf(view) },
    ...{ orderId: undefined, attempt: undefined },
    seal: sealOf({ ...at, nonce }, undefined),
  }
  const isLocal = submitter.wallet.account.type === 'local'
  const made = isLocal ? await signRow(context, submitter, draft) : undefined
  const row = made?.row ?? rowOf(draft, at, context.now())
  await context.store.write((tables) => tables.transactions.insert([row]), {
    lease: submitter.lease,
  })
  const kept = { ...row, version: 1 }
  keepOpen(submitter, [kept])
  if (made) await sendRecorded(context, submitter, view, [made.bytes])
  else await askWallet(context, submitter, kept, draft)
  return true
}

/**
 * What is open anyway, and what the record still says the chain has; else an
 * order would be captured that nobody wants captured by now. Pure.
 */
function isWanted(
  { kind, hash, inFlight }: TransactionRecord,
  file: StoredOrder | undefined,
): boolean {
  if (inFlight || kind === 'filler' || !file) return true
  const { order, proofs } = file
  const isGivenUp = order.unexpected || order.requested === 'void'
  return (
    !(kind === 'capture' && isGivenUp) &&
    proofs.some((proof) => !proof.removed && proof.transactionHash === hash)
  )
}

/** The same bytes again: they are sent in this very tick. */
async function reopen(
  context: OrdersContext,
  submitter: SubmitterState,
  rows: readonly TransactionRecord[],
): Promise<void> {
  const opened = rows.map((row) => ({ ...row, inFlight: true }))
  await context.store.write((tables) => tables.transactions.update(opened), {
    lease: submitter.lease,
  })
  keepOpen(
    submitter,
    opened.map((row) => ({ ...row, version: row.version + 1 })),
  )
}

function keepOpen(
  submitter: SubmitterState,
  rows: readonly TransactionRecord[],
): void {
  submitter.inFlight = [...submitter.inFlight, ...rows].sort(
    (one, other) => one.nonce - other.nonce || one.bump - other.bump,
  )
}
