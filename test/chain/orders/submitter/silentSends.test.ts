import { startDevChain } from 'countersign/devchain'
import type { Account, Address, TransactionSerialized } from 'viem'
import { parseTransaction } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import {
  capture,
  captureAll,
  mineLeftovers,
  openNonces,
  openShop,
  rowsOf,
  type ShopParameters,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'
import { onSend } from '../../support/walletShop.js'

const chain = await startDevChain({ blockTime: 0, accounts: 20 })
afterAll(() => chain.stop())
afterAll(mineLeftovers(chain))

const patience = { timeout: 60_000 }
const never = () => new Promise<never>(() => undefined)

/** Never answers about the first send of some nonces; counts what is sent. */
function silentAbout(
  nonces: readonly number[],
  { isTaken }: { isTaken: boolean },
) {
  const sends = new Map<number, number>()
  const answer: NonNullable<ShopParameters['answer']> = (asked, forward) => {
    if (asked.method !== 'eth_sendRawTransaction') return forward()
    const [raw] = asked.params as [TransactionSerialized]
    const { nonce = 0 } = parseTransaction(raw)
    const times = (sends.get(nonce) ?? 0) + 1
    sends.set(nonce, times)
    if (!nonces.includes(nonce) || times > 1) return forward()
    return isTaken ? forward().then(never) : never()
  }
  return { answer, sends }
}

test.each([
  ['took', true],
  ['did not take', false],
])(
  'a send that the node %s and never answers holds up nothing',
  async (_, isTaken) => {
    const { answer, sends } = silentAbout([0, 4], { isTaken })
    const account = await fundedAccount(chain)
    const shop = openShop(chain, { account, answer })
    const ids = await storeOrders(shop, 8)
    expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
    expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
    // The bytes on record went out again, and nothing else at any nonce.
    expect(sends.size).toBe(8)
    const { transactions } = await rowsOf(shop, ids)
    expect(new Set(transactions.map(({ nonce }) => nonce)).size).toBe(8)
    expect(await openNonces(shop)).toBe(0)
  },
)

test('while no send is answered, what was mined is settled and what is due is sent', async () => {
  const account = await fundedAccount(chain)
  const shop = openShop(chain, {
    account,
    answer: ({ method }, forward) =>
      method === 'eth_sendRawTransaction' ? forward().then(never) : forward(),
  })
  for (const id of await storeOrders(shop, 3))
    expect(await capture(shop, id)).toMatchObject({ status: 'captured' })
})

test('an engine ends in its time while a send hangs', async () => {
  const account = await fundedAccount(chain)
  let sent = 0
  const shop = openShop(chain, {
    account,
    answer: ({ method }, forward) => {
      if (method !== 'eth_sendRawTransaction') return forward()
      sent++
      return never()
    },
  })
  const [id] = await storeOrders(shop, 1)
  const result = capture(shop, id)
  await expect.poll(() => sent, patience).toBeGreaterThan(0)
  await shop.engine.stop()
  expect(await result).toMatchObject({ status: 'unknown' })
})

test('while a wallet does not answer, what it sent before is settled; its late answer is stored', async () => {
  const [address] = chain.accounts.slice(-1).map((one) => one.address)
  const account: Account = { address: address as Address, type: 'json-rpc' }
  let answerSecond: () => void = () => undefined
  let asked = 0
  const shop = openShop(chain, {
    account,
    answer: onSend(chain, async (pass, fields) => {
      asked++
      if (asked === 2)
        await new Promise<void>((resolve) => {
          answerSecond = resolve
        })
      return pass(fields)
    }),
  })
  await chain.clients.test.setAutomine(false)
  const ids = await storeOrders(shop, 2)
  const results = captureAll(shop, ids)
  await expect.poll(() => asked, patience).toBe(2)
  await chain.clients.test.setAutomine(true)
  await chain.clients.test.mine({ blocks: 1 })
  const openRows = async () => {
    const { transactions } = await rowsOf(shop, ids)
    return transactions.filter(({ inFlight }) => inFlight).length
  }
  await expect.poll(openRows, patience).toBe(1)
  answerSecond()
  expect(await results).toEqual(['captured', 'captured'])
  expect(asked).toBe(2)
  expect(await timesPaid(shop, ids)).toEqual([1, 1])
  const { transactions } = await rowsOf(shop, ids)
  expect(transactions.map(({ hash, bump }) => [typeof hash, bump])).toEqual(
    ids.map(() => ['string', 0]),
  )
})
