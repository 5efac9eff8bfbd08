import { signPayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import type {
  DraftedOrder,
  ExactDraftParameters,
  Orders,
} from 'countersign/orders'

/** Sells something to the chain's payer, up to the accepted signature. */
export async function sell(
  orders: Orders,
  chain: DevChain,
  draft: ExactDraftParameters,
): Promise<string> {
  const drafted = await orders.draft(draft)
  const payment = await sign(chain, drafted)
  const orderId = drafted.order.id
  const verdict = await orders.accept({ orderId, payment })
  if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
  return orderId
}

/** What the payer's page does with a draft. */
function sign(
  { chain, clients, token }: DevChain,
  { order, payment }: DraftedOrder,
): ReturnType<typeof signPayment> {
  const from = clients.payer.account.address
  const { recipient: to, amount } = order
  return signPayment(clients.payer, {
    payment: { ...payment, message: { ...payment.message, from } },
    expect: { chainId: chain.id, token, to, amount },
  })
}
