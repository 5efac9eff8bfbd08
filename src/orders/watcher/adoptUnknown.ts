import type { Address, Hex } from 'viem'
import type { Destination } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import {
  getRefundLogs,
  type SpentByRecipient,
} from '../evidence/getRefundLogs.js'
import { loadRefunded } from '../model/loadRefund.js'
import { isPayment } from '../model/refundRow.js'
import { adoptRefund } from './adoptRefund.js'
import { noncesOf, type RefundedPayment } from './planRefundNonce.js'
import type { TokenWatch } from './watchState.js'

/**
 * Finds refunds on chain, in a range of blocks, that the store lacks, for
 * example after a backup was restored, and writes them. A refund that cannot be
 * written is tried again later.
 */
export async function adoptUnknown(
  context: OrdersContext,
  watch: TokenWatch,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<void> {
  const { client, destinations, aside } = watch
  const spent = await getRefundLogs(context, client, watch, range)
  for (const { nonce, by, to } of await dropKnown(context, spent)) {
    const destination = destinations.find(({ recipient }) => recipient === by)
    if (!destination) continue
    try {
      const payment = await findPayment(context, destination, { nonce, to })
      const next = { nonce, holder: undefined }
      if (payment) await adoptRefund(context, watch, { payment, next })
      aside.clear(nonce)
    } catch (error) {
      aside.put(nonce, error, { destination })
    }
  }
}

async function dropKnown(
  { store }: OrdersContext,
  spent: readonly SpentByRecipient[],
): Promise<SpentByRecipient[]> {
  const nonces = spent.map(({ nonce }) => nonce)
  if (nonces.length === 0) return []
  const known = await store.read(({ attempts }) => attempts.find({ nonces }))
  return spent.filter(({ nonce }) =>
    known.every((attempt) => attempt.nonce !== nonce),
  )
}

const pageSize = 200

/**
 * Most refunds of one payment that the store may lack: the search computes this
 * many nonces beyond the stored ones.
 */
const mostUnknown = 32

/** Finds the payment of an account from which a refund's nonce was computed. */
export async function findPayment(
  { store }: Pick<OrdersContext, 'store'>,
  destination: Destination,
  { nonce, to }: { nonce: Hex; to: Address },
): Promise<RefundedPayment | undefined> {
  const payer = to.toLowerCase() as Address
  let before: bigint | undefined
  for (;;) {
    const query = { listed: [destination], payer, before, limit: pageSize }
    const orders = await store.read((tables) => tables.orders.find(query))
    for (const { id } of orders.filter(({ state }) => state === 'captured')) {
      const found = await store.read((tables) => loadRefunded(tables, id))
      const payments = (found?.proofs ?? [])
        .filter(isPayment)
        .flatMap((proof): RefundedPayment[] => {
          const paid = found?.attempts.find(
            ({ number }) => number === proof.attempt,
          )
          return found && paid ? [{ found, paid, proof }] : []
        })
      const most = (found?.refunds ?? []).length + mostUnknown
      const payment = payments.find((one) =>
        Array.from({ length: most }, (_, at) => noncesOf(one, at)).some(
          (nonces) => nonces.includes(nonce),
        ),
      )
      if (payment) return payment
    }
    before = orders.at(-1)?.position
    if (orders.length < pageSize) return undefined
  }
}
