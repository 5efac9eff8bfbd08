import type { Address, Client } from 'viem'
import { parseBytes, requestNode } from '../rpc/requestNode.js'

/** True for a contract, and for an account that delegates to one (EIP-7702). */
export async function hasCode(
  client: Client,
  address: Address,
): Promise<boolean> {
  const method = 'eth_getCode'
  const code = await requestNode(client, method, [address, 'latest'])
  return parseBytes(code, method) !== '0x'
}
