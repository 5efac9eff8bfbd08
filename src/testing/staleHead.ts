type RpcQuestion = { method: string; params?: unknown }

/** Position of the block among the parameters of each method. */
const blockPlace: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
  eth_getBlockTransactionCountByNumber: 0,
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_call: 1,
}

/**
 * True when the answer depends on the newest block, so that a node that is
 * behind would answer differently.
 */
export function asksForHead({ method, params }: RpcQuestion): boolean {
  if (method === 'eth_blockNumber') return true
  const given = Array.isArray(params) ? params : []
  if (method !== 'eth_getLogs') return isHead(given[blockPlace[method] ?? -1])
  const { blockHash, toBlock } = Object(given[0])
  return blockHash === undefined && (toBlock === undefined || isHead(toBlock))
}

/** Returns the same question about an older block instead of the newest. */
export function askAtBlock(question: RpcQuestion, block: string): RpcQuestion {
  const { method } = question
  const params: unknown[] = Array.isArray(question.params)
    ? [...question.params]
    : []
  if (method !== 'eth_getLogs') {
    params[blockPlace[method] ?? 0] = block
    return { method, params }
  }
  const { fromBlock, ...filter } = Object(params[0])
  const isOpen = fromBlock === undefined || isHead(fromBlock)
  params[0] = {
    ...filter,
    fromBlock: isOpen ? block : fromBlock,
    toBlock: block,
  }
  return { method, params }
}

function isHead(block: unknown): boolean {
  return block === 'latest'
}
