import type { Hash, Hex } from 'viem'
import { askJson } from '../api/askShop.js'

export type RpcLog = {
  address: Hex
  topics: readonly Hex[]
  data: Hex
  logIndex: Hex
}

export type RpcReceipt = {
  status: Hex
  transactionHash: Hash
  blockHash: Hash
  blockNumber: Hex
  from: Hex
  to: Hex | null
  gasUsed: Hex
  logs: readonly RpcLog[]
}

export type RpcBlock = { hash: Hash; number: Hex; timestamp: Hex }

/** What the chain itself says, asked for by this page. */
export async function readFromChain(
  hash: Hash,
): Promise<{ receipt: RpcReceipt | null; canonical: RpcBlock | null }> {
  const receipt = await ask<RpcReceipt>('eth_getTransactionReceipt', [hash])
  const canonical =
    receipt &&
    (await ask<RpcBlock>('eth_getBlockByNumber', [receipt.blockNumber, false]))
  return { receipt, canonical }
}

async function ask<result>(
  method: string,
  params: readonly unknown[],
): Promise<result | null> {
  const call = { jsonrpc: '2.0', id: 1, method, params }
  const { result, error } = await askJson<Answer<result>>('/rpc', {
    body: JSON.stringify(call),
  })
  if (error) throw new Error(error.message)
  return result ?? null
}

type Answer<result> = { result?: result; error?: { message: string } }
