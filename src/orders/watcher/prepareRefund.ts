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
import type { OrdersContext } from '../context/types.js'
import { recheckProofs, unclearError } from '../evidence/recheckProofs.js'
import { applyTaken, rulesOf } from '../model/apply.js'
import { writeChanges } from '../model/changes.js'
import { checkChainClock } from '../model/checkChainClock.js'
import { loadRefund, loadRefunded } from '../model/loadRefund.js'
import { hasNonce } from '../model/refundRow.js'
import type { RefundToSignVerdict } from '../model/refundVerdicts.js'
import { drawSender } from '../model/sendersOf.js'
import type { RefundRow, StoredRefund } from '../model/storedOrder.js'
import { isSuspended } from '../model/storeState.js'
import { giveUpRefund } from '../model/writeRefund.js'
import { adoptRefund } from './adoptRefund.js'
import {
  fits,
  nextNonce,
  noncesOf,
  type RefundedPayment,
  refundedPayment,
} from './planRefundNonce.js'
import { releaseNonce } from './releaseNonce.js'

/** What one poll knows about the chain when it plans refunds. */
export type RefundView = {
  client: Client
  /** Number of the newest final block. */
  finalized: bigint | undefined
  /** Time of the newest block in Unix seconds. */
  time: bigint
  lease: Lease | undefined
}

/**
 * A refund that is ready to sign, with nonce and window, or why it has to wait.
 */
export type Offer =
  | { ok: true; refund: StoredRefund }
  | {
      ok: false
      reason: Extract<RefundToSignVerdict, { ok: false }>['reason']
    }

/**
 * Gives a requested refund a window and the lowest unused refund nonce of its
 * payment. All lower nonces were used or canceled in final blocks. If the chain
 * shows that a transfer unknown to the store used the nonce, writes that
 * transfer and returns nothing to sign. It also returns nothing to sign while
 * sending is suspended (until `resume`). A refund that has a window and nonce
 * keeps them until the window has ended, so that two calls do not produce two
 * payments.
 *
 * Stores the nonce before anything is signed, so that no other refund can use
 * it.
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
    row: { id, parentId },
    window,
  }: { row: Pick<RefundRow, 'id' | 'parentId'>; window: bigint },
): Promise<Offer> {
  const { store } = context
  const loaded = await store.read((tables) => loadPayment(tables, id, parentId))
  if (!loaded) return { ok: false, reason: 'notOpen' }
  const { payment, refund, holders, suspended } = loaded
  const { attempt } = refund.stored
  if (hasNonce(attempt)) {
    if (suspended) return { ok: false, reason: 'suspended' }
    const isOpen = view.time + context.policy.safetyMargin < attempt.validBefore
    return isOpen ? { ok: true, refund } : { ok: false, reason: 'notOpen' }
  }
  if (!payment || !(await isFinal(view, payment.proof)))
    return { ok: false, reason: 'notFinal' }
  const next = nextNonce(payment, refund.row, holders)
  if (next === 'otherRefund') return { ok: false, reason: 'otherRefund' }
  const { chainId, recipient, token } = refund.row
  checkChainClock(context, { timestamp: view.time, chainId })
  const asked = await Promise.all(
    next.same.map(async (held) => {
      const { nonce } = held
      const payer = recipient
      const { consumed } = await getConsumption(view.client, {
        token,
        payer,
        nonce,
      })
      return { held, consumed }
    }),
  )
  const used = asked.find(({ consumed }) => consumed)
  if (used) {
    await adoptRefund(context, view, { payment, next: used.held })
    return { ok: false, reason: 'otherRefund' }
  }
  if (suspended) return { ok: false, reason: 'suspended' }
  if (!fits(payment.found, refund.row)) {
    // A refund that the store did not know before left too little of the
    // payment.
    await giveUpRefund(context, refund, {
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
      suspended: boolean
    }
  | undefined
> {
  const refund = await loadRefund(tables, id)
  const found = await loadRefunded(tables, orderId)
  if (!refund || !found) return undefined
  const { state, reason } = refund.row
  if (state !== 'drafted' || reason !== undefined) return undefined
  const payment = refundedPayment(found, refund.row)
  const holders = payment ? await findHolders(tables, payment) : []
  return { refund, payment, holders, suspended: await isSuspended(tables) }
}

/** Finds the attempts that were planned with refund nonces of a payment. */
function findHolders(
  { attempts }: Pick<StoreReader, 'attempts'>,
  payment: RefundedPayment,
): Promise<AttemptRecord[]> {
  const most = (payment.found.refunds ?? []).length + 1
  const indexes = Array.from({ length: most }, (_, index) => index)
  const nonces = indexes.flatMap((index) => noncesOf(payment, index))
  return attempts.find({ nonces })
}

/**
 * True when the block of the refunded payment is final. Asks the node again,
 * because a reorg may have removed the stored payment from the chain.
 *
 * @throws {@link NodeAnswerError} when the node no longer has its receipt; the
 * refund then waits for its next try.
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
 * since it was loaded.
 */
async function writeOffer(
  context: OrdersContext,
  tables: StoreWriter,
  { time }: RefundView,
  {
    refund: { row, stored },
    next: { nonce, same },
    window,
  }: { refund: StoredRefund; next: Next; window: bigint },
): Promise<boolean> {
  const [current] = await tables.orders.find({ ids: [row.id] })
  if (current?.version !== row.version) return false
  for (const { holder } of same)
    if (holder && !(await releaseNonce(tables, holder))) return false
  const validBefore = time + window
  const submitter = drawSender(context, row)?.submitter.account
  const attempt = {
    ...stored.attempt,
    nonce,
    validAfter: time - secondsBefore,
    validBefore,
  }
  const rules = rulesOf(context)
  const input = { kind: 'offer', attempt, submitter } as const
  await writeChanges(tables, applyTaken(stored, input, rules), rules.at)
  return true
}

/**
 * Seconds by which `validAfter` lies before now, because the chain's clock may
 * be behind ours.
 */
const secondsBefore = 60n
