import type { NodeConnection } from '../sequencer/connectNode.js'
import { RpcFault } from '../sequencer/devRpc.js'
import { readRaw } from '../sequencer/mempool.js'
import type { DevPolicies } from './policies.js'

/** Refuses a transaction too far beyond what the chain has of its sender. */
export async function refuseFullSender(
  { maxPending }: DevPolicies,
  { node, raw }: { node: NodeConnection; raw: unknown },
): Promise<void> {
  const read = maxPending && (await readRaw(raw))
  if (!read) return
  const params = [read.from, 'latest']
  const count = Number(await node.request('eth_getTransactionCount', params))
  const { transactions, code = -32003, text = 'txpool is full' } = maxPending
  if (read.nonce >= count + transactions)
    throw new RpcFault({ code, message: text })
}
