import type { Address, Hex } from 'viem'
import type { Destination } from '../../store/types.js'
import {
  getRefundLogs,
  type SpentByRecipient,
} from '../evidence/getRefundLogs.js'
import { loadRefunded } from '../model/loadRefund.js'
import { isPayment } from '../model/refundRow.js'
import type { OrdersContext } from '../model/types.js'
import { adoptRefund } from './adoptRefund.js'
import { nonceOf, type RefundedPayment } from './planOffer.js'
import type { Watch } from './watchState.js'

/**
 * Writes refunds in a range of blocks that the record does not have, for
 * example after a backup was restored. One that fails is put aside.
 */
export async function adoptUnknown(
  context: OrdersContext,
  watch: Watch,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<void> {
  const { client, destination, aside } = watch
  const spent = await getRefundLogs(context, client, destination, range)
  for (const { nonce, to } of await dropKnown(context, spent)) {
    try {
      const payment = await findPayment(context, destination, { nonce, to })
      const next = { nonce, holder: undefined }
      if (payment) await adoptRefund(context, watch, { payment, next })
      aside.clear(nonce)
    } catch (error) {
      aside.put(nonce, error)
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

/** Further refunds of a payment that the record may lack. */
const mostUnknown = 32

/** Finds the payment of an order that a nonce refunds, among those of an account. */
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
        Array.from({ length: most }, (_, at) => nonceOf(one, at)).includes(
          nonce,
        ),
      )
      if (payment) return payment
    }
    before = orders.at(-1)?.position
    if (orders.length < pageSize) return undefined
  }
}
