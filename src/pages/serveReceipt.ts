import type { Hash } from 'viem'
import { inTime } from '../core/wait.js'
import { problem } from '../http/routes/problem.js'
import type { OrdersContext } from '../orders/engine.js'

/** Milliseconds that a node has to answer. */
const longest = 15_000

const place = /^\/api\/receipts\/([1-9]\d{0,15})\/(0x[\da-f]{64})$/

/**
 * Answers with a receipt and the block at its height, as the shop's node
 * reports them. The page compares the record with both.
 */
export async function serveReceipt(
  { tokens }: Pick<OrdersContext, 'tokens'>,
  path: string,
): Promise<Response> {
  const [, chainId, hash] = place.exec(path) ?? []
  const token = tokens.find((one) => String(one.chainId) === chainId)
  if (!token || !hash) return problem('noRoute')
  const { client } = token
  const read = async () => {
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
    return { receipt, canonical }
  }
  const found = await inTime(
    read().catch(() => undefined),
    longest,
    () => undefined,
  )
  return found
    ? Response.json(found, { headers: { 'cache-control': 'no-store' } })
    : problem('nodeUnavailable')
}
