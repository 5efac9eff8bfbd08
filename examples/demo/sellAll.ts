import { equal } from 'node:assert/strict'
import { parseAmount, paymentTypedData } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import type { PrivateKeyAccount } from 'viem'
import type { Shop } from './openShop.js'

/** Orders under way at once: each waits for the node and for the store. */
const together = 100

/** Sells as many orders, each drafted, signed and accepted. */
export async function sellAll(
  chain: DevChain,
  shop: Shop,
  { amount, count }: { amount: string; count: number },
): Promise<{
  orderIds: readonly string[]
  payers: readonly PrivateKeyAccount[]
  seconds: number
}> {
  // Payer, merchant and relayer come first.
  const payers = chain.accounts.slice(3, 8)
  const share = BigInt(Math.ceil(count / payers.length))
  for (const { address } of payers)
    await chain.mint({ to: address, value: share * parseAmount(amount) })

  const began = performance.now()
  const orderIds: string[] = []
  for (let done = 0; done < count; done += together) {
    const size = Math.min(together, count - done)
    const sold = Array.from({ length: size }, (_, index) => {
      const payer = payers[(done + index) % payers.length]
      if (!payer) throw new Error('nobody pays')
      return sellOne(shop, payer, amount)
    })
    orderIds.push(...(await Promise.all(sold)))
  }
  return { orderIds, payers, seconds: (performance.now() - began) / 1000 }
}

/** Sells one order, drafted, signed and accepted. */
export async function sellOne(
  { orders }: Shop,
  payer: PrivateKeyAccount,
  amount: string,
): Promise<string> {
  const { order, payment } = await orders.draft({ amount })
  const message = { ...payment.message, from: payer.address }
  const signature = await payer.signTypedData(
    paymentTypedData({ ...payment, message }),
  )
  const signed = { ...payment, message, signature }
  const verdict = await orders.accept({ orderId: order.id, payment: signed })
  equal(verdict.ok || verdict.reason, true)
  return order.id
}
