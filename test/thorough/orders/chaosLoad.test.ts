import { startDevChain } from 'countersign/devchain'
import { erc20Abi } from 'viem'
import { getContractEvents } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { auditOrders } from '../../../src/orders/verbs/auditOrders.js'
import { reconcile } from '../../../src/orders/watcher/reconcile.js'
import {
  failBroadcasts,
  isFull,
  seed,
  sqliteFile,
  startChance,
  stealNonces,
} from '../../chain/support/chaos.js'
import { fundedAccount } from '../../chain/support/desk.js'
import {
  captureAll,
  openNonces,
  openShop,
  rowsOf,
  storeOrders,
  timesPaid,
} from '../../chain/support/orderRows.js'

const count = isFull ? 1_000 : 200
const timeout = isFull ? 600_000 : 120_000

const chain = await startDevChain({
  blockTime: 0.2,
  policies: { maxPending: { transactions: 16 } },
})
const { public: reader, test: control } = chain.clients
afterAll(() => chain.stop())

test(`${count} captures at once on a faulty node with an account that others use are each captured once [seed ${seed}]`, {
  timeout,
}, async () => {
  const account = await fundedAccount(chain)
  const { address } = account
  await control.setBalance({ address, value: 10n ** 21n })
  const { answer: steal, stolen } = stealNonces(account, 20, (raw) =>
    reader.sendRawTransaction({ serializedTransaction: raw }),
  )
  const { answer, tally } = failBroadcasts(startChance(1), 0.05, steal)
  const { store } = sqliteFile()
  const shop = openShop(chain, { account, store, answer })
  const ids = await storeOrders(shop, count)

  const states = await captureAll(shop, ids, timeout)
  expect(new Set(states)).toEqual(new Set(['captured']))
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
  const transfers = await getContractEvents(reader, {
    address: chain.token,
    abi: erc20Abi,
    eventName: 'Transfer',
    args: { to: address },
    fromBlock: 0n,
    strict: true,
  })
  expect(transfers.map(({ args }) => args.value)).toEqual(
    ids.map(() => 1_000_000n),
  )
  await expect.poll(() => openNonces(shop)).toBe(0)

  const { events, transactions } = await rowsOf(shop, ids)
  const shared = events.filter(({ type }) => type === 'submitterShared')
  expect(new Set(shared.map(({ data }) => data.nonce))).toEqual(stolen)
  expect(stolen.size).toBeGreaterThanOrEqual(Math.floor(count / 20))
  expect(Object.values(tally).every((times) => times > 0)).toBe(true)
  const used = new Set(transactions.map(({ nonce }) => nonce))
  expect(used.size).toBe(Math.max(...used) + 1)
  await reconcile(shop.context)
  expect((await auditOrders(shop.context)).ok).toBe(true)
})
