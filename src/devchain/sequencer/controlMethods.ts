import type { Hash } from 'viem'
import { followNode, mineBlocks } from './advanceSequencer.js'
import { type AnswerRpc, asJson, RpcFault, toHash } from './devRpc.js'
import { refreshBlock } from './previewBlock.js'
import { dropPending, reorgChain, replaceIncluded } from './reorgChain.js'
import type { Sequencer } from './sequencer.js'

const controls = /^(anvil|hardhat|evm|tenderly)_/

/**
 * True for methods that only test nodes have, such as `evm_mine` and
 * `anvil_mine`.
 */
export function isControlMethod(method: string): boolean {
  return controls.test(method)
}

/**
 * Answers methods that only test nodes have. Those for mining and time are
 * handled here, because the emulated network builds the blocks. Most others go
 * to the node. They change its state, so the block under construction is built
 * again afterwards.
 */
export function answerControl(sequencer: Sequencer): AnswerRpc {
  const { node, lock } = sequencer
  const reopen = () => lock.exclusive(() => refreshBlock(sequencer))
  return async (method, params) => {
    const [first] = params
    const name = method.replace(controls, '')
    switch (name) {
      case 'mine':
        await mine(sequencer, method, params)
        return method === 'evm_mine' ? '0x0' : null
      case 'increaseTime':
        sequencer.offset += Number(first)
        sequencer.nextTimestamp = undefined
        await reopen()
        return sequencer.offset
      case 'setTime':
        sequencer.offset = toSeconds(first) - Math.floor(Date.now() / 1000)
        sequencer.nextTimestamp = undefined
        await reopen()
        return sequencer.offset
      case 'setNextBlockTimestamp':
        await lock.exclusive(async () => {
          await node.request(method, params)
          sequencer.nextTimestamp = Number(first)
          await refreshBlock(sequencer)
        })
        return null
      case 'setIntervalMining':
        sequencer.blockTime = Number(first) * 1000
        sequencer.due = Date.now() + sequencer.blockTime
        return null
      case 'setAutomine':
      case 'setAutoMine':
        throw new RpcFault({
          code: -32601,
          message: `${method} is not available: blocks follow a schedule`,
        })
      case 'reorg':
        await reorgChain(sequencer, { depth: Number(first), replay: false })
        return null
      case 'dropTransaction':
        return drop(sequencer, toHash(first))
      case 'dropAllTransactions':
        await dropPending(sequencer)
        sequencer.mempool = []
        return node.request(method, params)
      case 'revert':
      case 'rollback':
        return lock.exclusive(async () => {
          const result = await node.request(method, params)
          await resend(sequencer)
          return result
        })
      default:
        return lock.exclusive(async () => {
          const result = await node.request(method, params)
          await refreshBlock(sequencer)
          return result
        })
    }
  }
}

async function mine(
  sequencer: Sequencer,
  method: string,
  [first, second]: readonly unknown[],
): Promise<void> {
  if (method !== 'evm_mine') {
    const [blocks, interval] = [Number(first ?? 1), Number(second ?? 0)]
    return mineBlocks(sequencer, { blocks, interval })
  }
  const { timestamp, blocks } = asJson(first)
  const wanted = typeof first === 'object' ? timestamp : first
  if (wanted !== undefined && wanted !== null)
    sequencer.nextTimestamp = Number(wanted)
  return mineBlocks(sequencer, { blocks: Number(blocks ?? 1) })
}

async function drop(sequencer: Sequencer, hash: Hash): Promise<unknown> {
  const count = sequencer.mempool.length
  sequencer.mempool = sequencer.mempool.filter((one) => one.hash !== hash)
  if (sequencer.mempool.length < count) {
    await sequencer.lock.exclusive(() =>
      replaceIncluded(sequencer, sequencer.included),
    )
    return hash
  }
  const [dropped] = await dropPending(sequencer, hash)
  return dropped ?? sequencer.node.request('anvil_dropTransaction', [hash])
}

/**
 * Reads the node's chain after it went back to a snapshot. Then sends the
 * pre-confirmed transactions again, which the node's pool has lost.
 */
async function resend(sequencer: Sequencer): Promise<void> {
  sequencer.mempool = [...sequencer.included, ...sequencer.mempool]
  sequencer.included = []
  sequencer.nextTimestamp = undefined
  await sequencer.node.request('anvil_dropAllTransactions')
  await followNode(sequencer)
  await refreshBlock(sequencer)
}

/**
 * Reads a time as Unix seconds. anvil takes milliseconds here, but many callers
 * pass seconds: a number above 10^11 must be milliseconds.
 */
function toSeconds(value: unknown): number {
  const time = Number(value)
  return time > 100_000_000_000 ? Math.floor(time / 1000) : time
}
