import { ServerError } from 'countersign/client'
import type { Address } from 'viem'
import { askJson } from './askShop.js'

/** The only chain that is paid on here, whatever the shop says. */
export const developmentChainId = 31337

/** Token units an account holds. */
export async function getTokenBalance(
  token: Address,
  account: Address,
): Promise<bigint> {
  // balanceOf(address)
  const data = `0x70a08231${account.slice(2).toLowerCase().padStart(64, '0')}`
  return BigInt(await callNode('eth_call', [{ to: token, data }, 'latest']))
}

/** Unix seconds of the newest block. */
export async function getChainTime(): Promise<number> {
  const block = await callNode('eth_getBlockByNumber', ['latest', false])
  return Number(Object(block).timestamp)
}

async function callNode(method: string, params: unknown[]): Promise<string> {
  const call = { jsonrpc: '2.0', id: 1, method, params }
  const { result } = await askJson<{ result?: string }>('/rpc', {
    body: JSON.stringify(call),
  })
  if (!result) throw new ServerError({ request: `no answer to ${method}` })
  return result
}
