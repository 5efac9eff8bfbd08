import type { Client } from 'viem'
import { getConsumption } from '../../chain/state/getAuthorizationState.js'
import type {
  AttemptRecord,
  Lease,
  ProofRecord,
  StoreReader,
  StoreWriter,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { recheckProofs, unclearError } from '../evidence/recheckProofs.js'
import { checkChainClock } from '../model/checkChainClock.js'
import { loadRefund, loadRefunded } from '../model/loadRefund.js'
import { drawSender } from '../model/sendersOf.js'
import type { RefundRow, StoredRefund } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { adoptRefund } from './adoptRefund.js'
import { giveUpRefund } from './giveUpRefund.js'
import {
  fits,
  nextNonce,
  nonceOf,
  type RefundedPayment,
  refundedPayment,
} from './planRefundNonce.js'
import { releaseNonce } from './releaseNonce.js'

/** What one poll knows of the chain, to plan refunds. */
export type RefundView = {
  client: Client
  /** Number of the newest final block. */
  finalized: bigint | undefined
  /** Unix seconds of the newest block. */
  time: bigint
  lease: Lease | undefined
  /**
   * True while the store waits for `resume`. Then nothing is offered to sign;
   * only refunds that the chain shows and the store lacks are written.
   */
  suspended: boolean
}

/** A refund with a nonce and a window to sign, or why it has to wait. */
export type Offer =
  | { ok: true; refund: StoredRefund }
  | {
      ok: false
      reason:
        | 'notFinal'
        | 'otherRefund'
        | 'exceedsCaptured'
        | 'notOpen'
        | 'suspended'
    }

/**
 * Gives a requested refund the lowest nonce of its payment that is unused, and
 * a window. All lower nonces are proven paid or canceled in final blocks. If
 * the chain shows a nonce spent by a transfer that the store lacks, writes that
 * transfer first, and offers nothing.
 *
 * Writes the nonce before anything is signed: no other refund can take it.
 *
 * @throws {@link ClockSkewError} when chain and clock differ by over 120 s.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, its answers contradict each other, or it has no receipt of the
 * payment.
 */
export async function prepareRefund(
  context: OrdersContext,
  view: RefundView,
  {
    row: { id, refundOf },
    window,
  }: { row: Pick<RefundRow, 'id' | 'refundOf'>; window: bigint },
): Promise<Offer> {
  const { store } = context
  const loaded = await store.read((tables) => loadPayment(tables, id, refundOf))
  if (!loaded) return { ok: false, reason: 'notOpen' }
  const { payment, refund, holders } = loaded
  if (!payment || !(await isFinal(view, payment.proof)))
    return { ok: false, reason: 'notFinal' }
  const next = nextNonce(payment, refund.row, holders)
  if (next === 'otherRefund') return { ok: false, reason: 'otherRefund' }
  const { chainId, recipient, token } = refund.row
  checkChainClock(context, { timestamp: view.time, chainId })
  const { consumed } = await getConsumption(view.client, {
    token,
    payer: recipient,
    nonce: next.nonce,
  })
  if (consumed) {
    await adoptRefund(context, view, { payment, next })
    return { ok: false, reason: 'otherRefund' }
  }
  if (view.suspended) return { ok: false, reason: 'suspended' }
  if (!fits(payment.found, refund.row)) {
    // A transfer that the store did not know before left too little.
    await giveUpRefund(context, refund.row, {
      reason: 'otherPayment',
      lease: view.lease,
    })
    return { ok: false, reason: 'exceedsCaptured' }
  }
  const isWritten = await writeAgain(
    context,
    (tables) => writeOffer(context, tables, view, { refund, next, window }),
    { lease: view.lease },
  )
  if (!isWritten) return { ok: false, reason: 'otherRefund' }
  const after = await store.read((tables) => loadRefund(tables, id))
  return after ? { ok: true, refund: after } : { ok: false, reason: 'notOpen' }
}

async function loadPayment(
  tables: StoreReader,
  id: string,
  orderId: string,
): Promise<
  | {
      refund: StoredRefund
      payment: RefundedPayment | undefined
      holders: readonly AttemptRecord[]
    }
  | undefined
> {
  const refund = await loadRefund(tables, id)
  const found = await loadRefunded(tables, orderId)
  if (!refund || !found || refund.row.state !== 'drafted') return undefined
  const payment = refundedPayment(found, refund.row)
  const holders = payment ? await findHolders(tables, payment) : []
  return { refund, payment, holders }
}

/** Finds the attempts that have nonces of a payment's refunds. */
function findHolders(
  { attempts }: Pick<StoreReader, 'attempts'>,
  payment: RefundedPayment,
): Promise<AttemptRecord[]> {
  const most = (payment.found.refunds ?? []).length + 1
  const nonces = Array.from({ length: most }, (_, index) =>
    nonceOf(payment, index),
  )
  return attempts.find({ nonces })
}

/**
 * True when the refunded payment is still in a final block. Asks the node
 * again, because a reorg may have undone a stored proof.
 *
 * @throws {@link NodeAnswerError} when the node has no receipt of it any more,
 * so that the refund is reported and tried again later.
 */
async function isFinal(
  { client, finalized }: RefundView,
  proof: ProofRecord,
): Promise<boolean> {
  if (finalized === undefined || proof.blockNumber > finalized) return false
  const { chainId } = proof
  const [checked] = await recheckProofs(client, [proof], { chainId })
  if (checked?.verdict === 'unclear') throw unclearError(proof)
  return checked?.verdict === 'same'
}

type Next = Exclude<ReturnType<typeof nextNonce>, 'otherRefund'>

/**
 * Writes a refund's nonce and window. Returns `false` when the refund changed
 * since it was read.
 */
async function writeOffer(
  context: OrdersContext,
  tables: StoreWriter,
  { time }: RefundView,
  {
    refund: { row, stored },
    next: { nonce, holder },
    window,
  }: { refund: StoredRefund; next: Next; window: bigint },
): Promise<boolean> {
  const [current] = await tables.orders.find({ ids: [row.id] })
  if (current?.version !== row.version) return false
  if (holder && !(await releaseNonce(tables, holder))) return false
  const validBefore = time + window
  const sender = drawSender(context, row)?.submitter.account
  await tables.orders.update([
    {
      ...row,
      deadline: validBefore,
      lookDue: validBefore,
      submitter: sender ?? row.submitter,
    },
  ])
  await tables.attempts.update([
    {
      ...stored.attempt,
      nonce,
      validAfter: time - secondsBefore,
      validBefore,
    },
  ])
  return true
}

/** Seconds from `validAfter` to now. The chain's clock may be behind ours. */
const secondsBefore = 60n
