import { closePool, countPending, waitUntilMined } from './closePool.js'
import { connectNode, type NodeConnection } from './connectNode.js'
import { asJson } from './devRpc.js'
import { firstOf, getBlocks, toTransactions } from './reorgChain.js'
import { getHead } from './sequencer.js'

/**
 * Replaces the newest blocks by as many empty ones, on a node that builds its
 * blocks itself. With `replay`, the transactions return to the node's pool;
 * otherwise they are lost.
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
    // The rollback has set the node's clock back to the time of its last block.
    // Moves it forward again.
    const lag = ahead - (await getClock(node))
    if (lag > 0) await node.request('evm_increaseTime', [lag])
    if (!replay) return
    // The node refuses a transaction that needs an earlier one which had no
    // signature and is lost.
    for (const { send } of old.flatMap(toTransactions)) {
      await node.request(...send).catch(() => undefined)
      await waitUntilMined(send[0], node.request)
    }
  } finally {
    node.close()
  }
}

/**
 * Turns off mining on arrival while `work` runs. If the node mined a block
 * while others are replaced, that block would be lost, but its receipts would
 * stay.
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
    // Mines transactions that arrived meanwhile. The node itself would mine
    // them only when another one arrives.
    if ((await countPending(node.request)) > stuck)
      await node.request('evm_mine', [])
  }
}

/** Returns the newest blocks. Reads them again if a block came in between. */
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
