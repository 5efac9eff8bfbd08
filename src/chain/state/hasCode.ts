import type { Address, Client } from 'viem'
import { readBytes, requestNode } from '../rpc/requestNode.js'

/** Whether an account is a contract, or has one act for it (EIP-7702). */
export async function hasCode(
  client: Client,
  address: Address,
): Promise<boolean> {
  const method = 'eth_getCode'
  const code = await requestNode(client, method, [address, 'latest'])
  return readBytes(code, method) !== '0x'
}
