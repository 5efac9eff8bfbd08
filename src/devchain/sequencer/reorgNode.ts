import { closePool, countPending, waitUntilMined } from './closePool.js'
import { connectNode, type NodeConnection } from './connectNode.js'
import { asJson } from './devRpc.js'
import { firstOf, getBlocks, toTransactions } from './reorgChain.js'
import { getHead } from './sequencer.js'

/**
 * On a node that makes its own blocks, replaces the newest blocks by the same
 * number of empty ones. The transactions return to its pool or are dropped.
 */
export async function reorgNode(
  port: number,
  { depth, replay }: { depth: number; replay: boolean },
): Promise<void> {
  const node = connectNode(port)
  try {
    const ahead = await getClock(node)
    const old = await whileNotMining(node, async () => {
      const newest = await getNewest(node, depth)
      await node.request('anvil_reorg', [depth, []])
      return newest
    })
    // The node sets its clock back to the last block.
    const lag = ahead - (await getClock(node))
    if (lag > 0) await node.request('evm_increaseTime', [lag])
    if (!replay) return
    // A transaction may depend on one that cannot return.
    for (const { send } of old.flatMap(toTransactions)) {
      await node.request(...send).catch(() => undefined)
      await waitUntilMined(send[0], node.request)
    }
  } finally {
    node.close()
  }
}

/**
 * Keeps a node from mining transactions as they arrive. A block that the node
 * mines while it replaces others is lost, but its receipts stay.
 */
async function whileNotMining<result>(
  node: NodeConnection,
  work: () => Promise<result>,
): Promise<result> {
  const isMining = await node.request('anvil_getAutomine', [])
  if (isMining !== true) return work()
  await node.request('evm_setAutomine', [false])
  let stuck = 0
  try {
    stuck = await closePool(node.request)
    return await work()
  } finally {
    await node.request('evm_setAutomine', [true])
    // The node would mine these only when another transaction arrives.
    if ((await countPending(node.request)) > stuck)
      await node.request('evm_mine', [])
  }
}

/** Returns the newest blocks. Repeats if a block was added in between. */
async function getNewest(node: NodeConnection, depth: number) {
  for (;;) {
    const head = await getHead(node)
    const blocks = await getBlocks({ node, head }, firstOf(head, depth))
    if ((await getHead(node)).hash === head.hash) return blocks
  }
}

/** Returns how many seconds the node's clock is ahead of this machine's. */
async function getClock(node: NodeConnection): Promise<number> {
  const params = ['pending', false]
  const block = asJson(await node.request('eth_getBlockByNumber', params))
  return Number(block.timestamp) - Math.floor(Date.now() / 1000)
}
