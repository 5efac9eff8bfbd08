import type { Address, BlockTag, Client, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { parseBlockSelector } from '../logs/encodeLogFilter.js'
import { parseFrom } from '../rpc/endpointHost.js'
import { encodeBlock, parseQuantity, requestNode } from '../rpc/requestNode.js'

/** Account and block of {@link getBalance}. */
export type GetBalanceParameters = {
  address: Address
  /**
   * A number, its hex, or a tag. `pending`: on Flashblocks networks the state
   * after the pre-confirmed transactions, without the mempool; where canonical
   * blocks are sealed every 200 ms it equals `latest`; on a plain node it
   * counts the executable transactions of its pool.
   */
  block: bigint | Hex | BlockTag
}

/**
 * Reads a native balance in wei.
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
 * const wei = await client.getBalance({
 *   address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *   block: 'pending',
 * })
 * ```
 */
export async function getBalance(
  client: Client,
  parameters: GetBalanceParameters,
): Promise<bigint> {
  checkMembers(parameters, ['address', 'block'])
  const method = 'eth_getBalance'
  const given: GetBalanceParameters = Object(parameters)
  const address = parseCheckedAddress(given.address, 'address')
  const block = encodeBlock(parseBlockSelector(given.block))
  const answer = await requestNode(client, method, [address, block])
  return parseFrom(client, () => parseQuantity(answer, method))
}
