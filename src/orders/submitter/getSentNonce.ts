import type { Client, Hash } from 'viem'
import { tryRequest } from '../../chain/rpc/requestNode.js'

/**
 * Reads the account nonce of a transaction: `null` when the node does not know
 * the transaction, `undefined` when it gives no answer.
 */
export async function getSentNonce(
  client: Client,
  hash: Hash,
): Promise<number | null | undefined> {
  const method = 'eth_getTransactionByHash'
  const { result, failure } = await tryRequest(client, method, [hash])
  if (failure) return undefined
  if (result === null) return null
  const { nonce } = Object(result)
  return /^0x[\da-f]{1,12}$/i.test(String(nonce)) ? Number(nonce) : undefined
}
