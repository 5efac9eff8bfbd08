import { type Client, createClient, custom, type Hex } from 'viem'
import { mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { usedTopic } from '../../../../src/subscriptions/charges/findUses.js'
import { rpcError } from '../../support/desk.js'
import { balanceOf } from '../../support/refundDesk.js'
import {
  chargesOf,
  openSubscriptionShop,
  restoreBackup,
  type SubscriptionShop,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

type Sent = { method: string; params?: unknown }
type Ask = () => Promise<unknown>

/** The chain behind a node that answers as `answer` does. */
function nodeThat(answer: (sent: Sent, ask: Ask) => Promise<unknown>): Client {
  const request = (sent: Sent) =>
    answer(sent, () => chain.clients.public.request(sent as never))
  return createClient({
    chain: chain.chain,
    transport: custom({ request }, { retryCount: 0 }),
  })
}

const hasPaid = (shop: SubscriptionShop, id: string, chargeId: string) => () =>
  chargesOf(shop, id).then((charges) =>
    charges.some((one) => one[0] === chargeId && one[1] === 'captured'),
  )

/** A subscription whose charge of May only the chain knows. */
async function openLost(client: Client) {
  const before = await openSubscriptionShop(chain)
  const { id, wallet } = await before.subscribe({ allowance: '20' })
  const { account } = before
  const charge = (shop: SubscriptionShop, chargeId: string) =>
    shop.subscriptions.charge({ subscriptionId: id, chargeId, amount: '4' })
  const store = await restoreBackup(before)
  await charge(before, 'may')
  await before.workUntil(hasPaid(before, id, 'may'))
  const open = () =>
    openSubscriptionShop(chain, { store, account, changes: { client } })
  return { id, wallet, charge, store, open }
}

const mark = '0x636f756e7465727369676e206578656375746f72'

/**
 * As on Arbitrum, whose contracts see the block number of another chain. Never
 * answers `reconcile`, so that only the search before sending finds the charge.
 */
const withOtherNumber = nodeThat(async ({ method, params }, ask) => {
  const isReconcile = JSON.stringify(params ?? '').includes(
    `"topics":["${usedTopic}",null`,
  )
  if (isReconcile) await new Promise(() => undefined)
  const answer = await ask()
  const isRun = method === 'eth_call' && String(answer).startsWith(mark)
  return isRun
    ? `${String(answer).slice(0, 66)}${'1'.padStart(64, '0')}${String(answer).slice(130)}`
    : answer
})

test('where contracts see block numbers of another chain, a lost charge is found and not made again', async () => {
  const { id, wallet, charge, open } = await openLost(withOtherNumber)
  const shop = await open()
  await charge(shop, 'may')
  await shop.workUntil(hasPaid(shop, id, 'may'))
  expect(await balanceOf(chain, wallet.address)).toBe(96_000_000n)
})

const withoutSafe = nodeThat(async ({ params }, ask) => {
  if (JSON.stringify(params ?? '').includes('"safe"'))
    throw rpcError(-39001, 'Unknown block')
  return ask()
})

test('at a node without safe blocks, a restored backup uses up lost account nonces and charges again', async () => {
  const { id, wallet, charge, store, open } = await openLost(withoutSafe)
  await store.write((tables) =>
    tables.setValue('store', { identity: 'the lost database' }),
  )
  const shop = await open()
  await shop.orders.reconcile()
  await shop.subscriptions.reconcile()
  await shop.orders.resume()
  await charge(shop, 'june')
  await shop.workUntil(hasPaid(shop, id, 'june'))
  expect(await balanceOf(chain, wallet.address)).toBe(92_000_000n)
})

/** How often the receipt is read before the node knows logs and block. */
const lateReads = 6

/**
 * A node whose logs and blocks come later than its receipts: the receipt of the
 * first charge from now on is read some times before its block is known.
 */
function nodeWithLateBlocks() {
  let hidden: Hex | undefined
  let reads = 0
  let after: bigint | undefined
  const client = nodeThat(async ({ method, params }, ask) => {
    const answer = await ask()
    if (after === undefined || reads >= lateReads) return answer
    const text = JSON.stringify(answer)
    const [first] = Array.isArray(params) ? params : []
    if (method === 'eth_getTransactionReceipt' && text.includes(usedTopic)) {
      const { blockTimestamp, ...receipt } = Object(answer)
      if (BigInt(receipt.blockNumber) <= after) return answer
      hidden = receipt.blockNumber
      reads++
      return {
        ...receipt,
        logs: receipt.logs.map((log: object) => ({
          ...log,
          blockTimestamp: undefined,
        })),
      }
    }
    if (method === 'eth_getBlockByNumber' && first === hidden) return null
    if (method === 'eth_getLogs' && Array.isArray(answer))
      return answer.filter(({ blockNumber }) => blockNumber !== hidden)
    return answer
  })
  const start = async () => {
    after = await chain.clients.public.getBlockNumber()
  }
  return { client, start, reads: () => reads }
}

test('a charge that succeeded in a block of unknown time is not sent a second time', async () => {
  const late = nodeWithLateBlocks()
  const { client } = late
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id, wallet } = await shop.subscribe({ allowance: '20' })
  const charge = (chargeId: string) =>
    shop.subscriptions.charge({ subscriptionId: id, chargeId, amount: '4' })
  await charge('may')
  await shop.workUntil(hasPaid(shop, id, 'may'))
  // The search for the first block of the period then never asks for the last.
  await mine(chain.clients.test, { blocks: 60 })
  await late.start()
  await charge('june')
  await shop.workUntil(hasPaid(shop, id, 'june'))
  expect(late.reads()).toBe(lateReads)
  expect(await balanceOf(chain, wallet.address)).toBe(92_000_000n)
})
