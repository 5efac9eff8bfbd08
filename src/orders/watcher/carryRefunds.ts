import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { LeaseLostError } from '../../store/errors.js'
import type { OrdersContext, RefundSigner } from '../context/types.js'
import { loadRefund, loadRefunded } from '../model/loadRefund.js'
import { isRefund } from '../model/refundRow.js'
import type { RefundRow } from '../model/storedOrder.js'
import { isSuspended } from '../model/storeState.js'
import { adoptRefund } from './adoptRefund.js'
import { refundedPayment } from './planRefundNonce.js'
import { prepareRefund, type RefundView } from './prepareRefund.js'
import { openApart } from './tryStep.js'
import type { SureWatch } from './watchState.js'

export const refundsStep = 'refunds'

const pageSize = 100

/**
 * Has `signer` sign requested refunds once their capture is final. The
 * submitter then sends them like captures. A failed refund is tried again later
 * and does not stop others. While sending is suspended (until `resume`), only
 * writes refunds that the chain shows and the store lacks.
 */
export async function carryRefunds(
  context: OrdersContext,
  watch: SureWatch,
  signer: RefundSigner,
): Promise<void> {
  const { chainId, destinations, heads, sure, client, lease, memory } = watch
  const { timestamp: time } = heads.latest
  const parts = openApart(watch, { step: refundsStep, time })
  const view = { client, finalized: sure.finalized?.number, time, lease }
  const { window } = context.policy
  const signers = context.wallets
    .map(({ submitter }) => submitter)
    .filter((one) => one.chainId === chainId)
  const ready: RefundRow[] = []
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
      if (signer.storing.has(row.id)) continue
      try {
        if (row.reason === 'consumed') await adoptConsumed(context, view, row)
        else if (suspended) await prepareRefund(context, view, { row, window })
        else if (signers.some(({ account }) => account === row.recipient))
          ready.push(row)
      } catch (error) {
        if (error instanceof LeaseLostError) throw error
        parts.put(row.id, error, { destination: row })
      }
    }
    after = rows.at(-1)?.position
    if (rows.length < pageSize) break
  }
  parts.close(new Set([...signer.storing, ...ready.map(({ id }) => id)]))
  const getTime = openClock(view)
  const prepare = async (row: RefundRow) => {
    const now = { ...view, time: await getTime() }
    const offer = await prepareRefund(context, now, { row, window })
    return offer.ok ? offer.refund : undefined
  }
  await signer.sign(ready, {
    lease,
    prepare,
    put: parts.put,
    clear: parts.clear,
  })
}

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
