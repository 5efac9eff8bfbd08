import type { Address, BlockTag, Client, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { parseBlockSelector } from '../logs/encodeLogFilter.js'
import { parseFrom } from '../rpc/endpointHost.js'
import { NodeAnswerError } from '../rpc/errors.js'
import { encodeBlock, parseQuantity, requestNode } from '../rpc/requestNode.js'

/** Account and block of {@link getTransactionCount}. */
export type GetTransactionCountParameters = {
  address: Address
  /**
   * A number, its hex, or a tag. `pending`: on Flashblocks networks it counts
   * the pre-confirmed transactions and not the mempool, so count yourself if
   * you send more often than every 200 ms; elsewhere it counts the account's
   * consecutive transactions in the node's mempool too.
   */
  block: bigint | Hex | BlockTag
}

/**
 * Gets the account nonce that the account's next transaction uses.
 *
 * @throws {@link InvalidFieldError} before anything is sent, when address or
 * block are malformed.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 *
 * @example
 * ```ts
 * import { createReadClient } from 'countersign/reads'
 *
 * const client = createReadClient({ url: 'http://127.0.0.1:8545' })
 * const nonce = await client.getTransactionCount({
 *   address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *   block: 'pending',
 * })
 * ```
 */
export async function getTransactionCount(
  client: Client,
  parameters: GetTransactionCountParameters,
): Promise<number> {
  checkMembers(parameters, ['address', 'block'])
  const method = 'eth_getTransactionCount'
  const given: GetTransactionCountParameters = Object(parameters)
  const address = parseCheckedAddress(given.address, 'address')
  const block = encodeBlock(parseBlockSelector(given.block))
  const answer = await requestNode(client, method, [address, block])
  return parseFrom(client, () => {
    const count = Number(parseQuantity(answer, method))
    if (!Number.isSafeInteger(count))
      throw new NodeAnswerError({ method, problem: 'is no account nonce' })
    return count
  })
}
