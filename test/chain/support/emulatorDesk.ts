import { type Hash, numberToHex } from 'viem'
import { afterAll, afterEach } from 'vitest'
import { startDevChain } from '../../../src/devchain/index.js'
import { ask, askList, type Json } from './emulated.js'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({
  preconfirmations: 'flashblocks',
  tick: 0,
  blockTime: 0,
})
export const { preconfirmations: control, token, clients } = chain
export const payer = clients.payer.account.address
export const [, , , fourth, fifth] = chain.accounts.map(
  ({ address }) => address,
)

afterAll(() => chain.stop())
afterEach(async () => {
  chain.setPolicies({})
  await control.stall(false)
  await control.tick()
  await control.seal()
})

export const head = async () => Number(await ask(chain, 'eth_blockNumber'))
export const receiptOf = (hash: Hash) =>
  ask(chain, 'eth_getTransactionReceipt', hash)
export const pendingBlock = (full = false) =>
  ask(chain, 'eth_getBlockByNumber', 'pending', full)
export const logs = (fromBlock?: string, toBlock?: string) =>
  askList(chain, 'eth_getLogs', { address: token, fromBlock, toBlock })
export const hashesOf = (list: Json[]) => list.map((log) => log.transactionHash)
export const countOf = async (block: string) =>
  Number(await ask(chain, 'eth_getTransactionCount', payer, block))

/** Everything that may or may not know of a payment to an account. */
export async function viewOf(hash: Hash, to: string) {
  const balanceOf = `0x70a08231${to.slice(2).padStart(64, '0')}`
  const call = { to: token, data: balanceOf }
  const [block, receipts] = [await pendingBlock(), 'eth_getBlockReceipts']
  return {
    balance: Number(await ask(chain, 'eth_call', call, 'pending')),
    count: (await countOf('pending')) - (await countOf('latest')),
    receipt: (await receiptOf(hash)) !== null,
    transaction: await blockOf(hash),
    block: block.transactions,
    size: await ask(chain, 'eth_getBlockTransactionCountByNumber', 'pending'),
    receipts: hashesOf(await askList(chain, receipts, 'pending')),
    logs: hashesOf(await logs('pending', 'pending')),
  }
}

export const nothing = {
  balance: 0,
  count: 0,
  receipt: false,
  transaction: undefined,
  block: [],
  size: '0x0',
  receipts: [],
  logs: [],
}

/** The block of a transaction: none while it waits in the node's pool. */
async function blockOf(hash: Hash): Promise<unknown> {
  const found = await ask(chain, 'eth_getTransactionByHash', hash)
  return found === null ? undefined : (found as Json).blockNumber
}

export async function latestView(): Promise<Json> {
  const { transactions } = await ask(
    chain,
    'eth_getBlockByNumber',
    'latest',
    false,
  )
  const block = transactions as string[]
  return {
    block,
    size: numberToHex(block.length),
    receipts: block,
  }
}
