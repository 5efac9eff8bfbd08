import { startDevChain } from 'countersign/devchain'
import { parseTransaction, type TransactionSerialized } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { seededRandom } from '../../../../src/testing/seededRandom.js'
import { fundedAccount, rpcError } from '../../../chain/support/desk.js'
import {
  captureAll,
  openNonces,
  openShop,
  rowsOf,
  type ShopParameters,
  storeOrders,
  timesPaid,
} from '../../../chain/support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
const { public: reader } = chain.clients
afterAll(() => chain.stop())

const refuse = (words: string) => Promise.reject(rpcError(-32000, words))

test('a thousand captures pass a node that fails, limits its senders, and a foreigner', {
  timeout: 240_000,
}, async () => {
  const account = await fundedAccount(chain)
  const { address } = account
  const random = seededRandom(4)
  const foreign = new Set<number>()
  /** Someone else with the same key is quicker now and then. */
  const interfere = async (nonce: number) => {
    if (nonce % 20 !== 7 || foreign.has(nonce)) return
    foreign.add(nonce)
    const serializedTransaction = await account.signTransaction({
      chainId: 31337,
      to: address,
      nonce,
      gas: 21_000n,
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 10n ** 9n,
    })
    await reader
      .sendRawTransaction({ serializedTransaction })
      .catch(() => undefined)
  }
  const answer: ShopParameters['answer'] = async (asked, forward) => {
    if (asked.method !== 'eth_sendRawTransaction') return forward()
    const raw = String(asked.params) as TransactionSerialized
    const { nonce = 0 } = parseTransaction(raw)
    const count = await reader.getTransactionCount({ address })
    if (nonce >= count + 16) return refuse('txpool is full')
    await interfere(nonce)
    const draw = random()
    if (draw < 0.01) throw new Error('fetch failed')
    if (draw < 0.02) return forward().then(() => refuse('gateway timeout'))
    if (draw < 0.03) return forward().then(() => refuse('internal failure'))
    if (draw < 0.04) return refuse('nonce too low')
    if (draw < 0.05) return refuse('transaction underpriced')
    return forward()
  }
  const shop = openShop(chain, {
    account,
    answer,
    policy: { maxInFlight: 100 },
  })
  const signer = await fundedAccount(chain, 2_000_000_000n)
  const ids = await storeOrders(shop, 1000, { signer })
  // Time goes on, and what was safe grows, when nobody sends anything too.
  const clock = setInterval(() => chain.warp(1), 250)
  const statuses = await captureAll(shop, ids, 200_000)
  clearInterval(clock)
  expect(new Set(statuses)).toEqual(new Set(['captured']))
  expect(new Set(await timesPaid(shop, ids))).toEqual(new Set([1]))
  expect(await openNonces(shop)).toBe(0)
  const { events } = await rowsOf(shop, ids)
  const shared = events.filter(({ type }) => type === 'submitterShared')
  expect(new Set(shared.map(({ data }) => data.nonce)).size).toBe(shared.length)
  expect(shared.length).toBeGreaterThan(10)
})
