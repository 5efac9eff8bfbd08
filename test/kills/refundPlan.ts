import { paymentTypedData } from 'countersign'
import type { Refund } from 'countersign/orders'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Shop } from './openShop.js'
import type { Kill, ShopPlan } from './plan.js'

/**
 * Who signs a refund: the process itself, a wallet behind the node, or somebody
 * who is asked with `refundToSign`.
 */
export type RefundSigner = 'local' | 'jsonRpc' | 'elsewhere'

export const refundSigners: readonly RefundSigner[] = [
  'local',
  'jsonRpc',
  'elsewhere',
]

/** What a process that refunds an order is told, as JSON. */
export type RefundPlan = ShopPlan & {
  signer: RefundSigner
  orderId: string
  refundId: string
  /** Decimal. The order is of 1.25. */
  amount: string
  /** The recipient's key. Only `elsewhere` uses it outside a wallet. */
  recipientKey: Hex
  kill?: Kill | undefined
}

/** Takes the merchant's next step, and returns the refund as it was before. */
export async function stepRefund(
  { orders }: Pick<Shop, 'orders'>,
  { orderId, refundId, amount, signer, recipientKey }: RefundPlan,
): Promise<Refund | undefined> {
  const { refunds } = await orders.get({ orderId })
  const found = refunds.find((one) => one.refundId === refundId)
  const isOver = found?.state === 'failed' && !found.reserved
  if (!found || isOver) {
    await orders.refund({ orderId, refundId, amount })
    return undefined
  }
  if (signer !== 'elsewhere' || found.state !== 'requested') return found
  const toSign = await orders.refundToSign({ orderId, refundId })
  if (!toSign.ok) return found
  const account = privateKeyToAccount(recipientKey)
  const signature = await account.signTypedData(
    paymentTypedData(toSign.payment),
  )
  await orders.acceptRefund({ orderId, refundId, signature })
  return found
}
