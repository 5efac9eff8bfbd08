import { equal } from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { getPaymentOutcome, type SignedPayment, signPayment } from 'countersign'
import type {
  DraftedOrder,
  DraftOrderParameters,
  OrderEvent,
} from 'countersign/orders'
import type { Ending, Scene } from './types.js'

/** How every good order begins. */
export async function signedAndAccepted(
  scene: Scene,
): Promise<{ orderId: string; payment: SignedPayment }> {
  const drafted = await draftOrder(scene)
  await scene.tell('merchant', `drafts an order of ${scene.expect.amount} USDC`)
  const payment = await signOrder(scene, drafted)
  await scene.tell('payer', 'signs it; nothing moves, nothing is reserved')

  const orderId = drafted.order.id
  const verdict = await scene.shop.orders.accept({ orderId, payment })
  equal(verdict.ok || verdict.reason, true)
  await scene.tell(
    'merchant',
    'accepts it: the token would pay; keeps it sealed',
  )
  return { orderId, payment }
}

export function draftOrder(
  { shop, chain, expect }: Scene,
  changes: Omit<DraftOrderParameters, 'amount'> = {},
): Promise<DraftedOrder> {
  const payer = chain.clients.payer.account.address
  return shop.orders.draft({ amount: expect.amount, payer, ...changes })
}

/** What the payer's page does with what the merchant drafted. */
function signOrder(
  { chain, expect }: Scene,
  { payment }: Pick<DraftedOrder, 'payment'>,
): Promise<SignedPayment> {
  const { payer } = chain.clients
  const message = { ...payment.message, from: payer.account.address }
  return signPayment(payer, { payment: { ...payment, message }, expect })
}

/** Why the merchant cannot have the order's payment, not even by trying. */
export async function refusal(
  { shop }: Scene,
  orderId: string,
): Promise<string> {
  const result = await shop.orders.capture({ orderId, timeout: 10_000 })
  return result.status === 'rejected' ? result.reason : result.status
}

/** Reads the shop's events until one of that type came for the order. */
export async function waitForEvent(
  { shop }: Scene,
  { orderId, type }: Pick<OrderEvent, 'orderId' | 'type'>,
): Promise<OrderEvent> {
  const over = AbortSignal.timeout(10_000)
  let after = 0n
  while (!over.aborted) {
    const { events, cursor } = await shop.orders.events({ after })
    const found = events.find(
      (event) => event.orderId === orderId && event.type === type,
    )
    if (found) return found
    if (cursor === after) await setTimeout(20)
    after = cursor
  }
  throw new Error(`no event ${type} came`)
}

/** How chain and record see the order, each asked for itself. */
export async function readEnding(
  { chain, shop }: Scene,
  { orderId, payment }: { orderId: string; payment: SignedPayment },
): Promise<Ending> {
  const outcome = await getPaymentOutcome(chain.clients.public, { payment })
  return { outcome, order: await shop.orders.get({ orderId }) }
}
