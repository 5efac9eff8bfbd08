import type { Hash } from 'viem'
import { answer } from '../http/routes/answer.js'
import { problem } from '../http/routes/problem.js'
import { merchantRoute, type Route } from '../http/routes/route.js'
import type { OrdersContext } from '../orders/engine.js'

const place = /\/receipts\/([1-9]\d{0,15})\/(0x[\da-f]{64})$/

/**
 * Answers with a receipt and the block at its height, as the shop's node
 * reports them. The page compares the record with both.
 */
export function receiptRoute({ tokens }: Pick<OrdersContext, 'tokens'>): Route {
  return merchantRoute({
    name: 'getReceipt',
    method: 'GET',
    path: '/receipts/{chainId}/{hash}',
    summary: 'Asks a node for a receipt',
    isExpensive: true,
    answers: {},
    run: async ({ request }) => {
      const [, chainId, hash] = place.exec(new URL(request.url).pathname) ?? []
      const token = tokens.find((one) => String(one.chainId) === chainId)
      if (!token || !hash) return problem('noRoute')
      const { client } = token
      try {
        const receipt = await client.request({
          method: 'eth_getTransactionReceipt',
          params: [hash as Hash],
        })
        const canonical = receipt?.blockNumber
          ? await client.request({
              method: 'eth_getBlockByNumber',
              params: [receipt.blockNumber, false],
            })
          : null
        return answer(200, { receipt, canonical })
      } catch {
        return problem('nodeUnavailable')
      }
    },
  })
}
