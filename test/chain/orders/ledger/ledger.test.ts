import { formatAmount } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { toHledger } from 'countersign/orders'
import { getBalance, getBlock } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signCancellation } from '../../../../src/payments/sign/signCancellation.js'
import { judgeJournal } from '../../support/hledger.js'
import {
  balanceOf,
  type LedgerShop,
  move,
  openLedgerShop,
  rowsOf,
  sell,
  sum,
} from '../../support/ledgerShop.js'
import { cancelPageOf } from '../../support/settle.js'
import { mineBlocks } from '../../support/watching.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4, token: 'usdc' })
})
afterAll(() => chain.stop())

/** The buyer cancels, and the shop sends the cancellation. */
async function cancel(shop: LedgerShop, orderId: string): Promise<void> {
  const { buyer } = await sell(shop, orderId)
  const request = await shop.orders.cancellationToSign({ orderId })
  if (!request.ok) throw new Error('nothing to cancel')
  const { cancellation } = request
  const wallet = { account: buyer, request: async () => '0x7a69' }
  const signed = await signCancellation(wallet, {
    cancellation,
    expect: cancelPageOf(cancellation),
  })
  const verdict = await shop.orders.acceptCancellation({
    orderId,
    cancellation: signed,
  })
  expect(verdict.ok).toBe(true)
  const stop = new AbortController()
  const run = shop.orders.run({ signal: stop.signal })
  await expect
    .poll(async () => (await shop.orders.get({ orderId })).state, {
      timeout: 60_000,
    })
    .toBe('canceled')
  stop.abort()
  await run
}

test('the journal is accepted by hledger and equals balanceOf, with captures, a cancellation, a reverted capture, a transfer, a withdrawal and a reorganization', async () => {
  const shop = await openLedgerShop(chain)
  const { orders, account, recipient } = shop
  await chain.mint({ to: recipient, value: 7_000_000n })
  await chain.warp(60)
  const ether = await getBalance(chain.clients.public, {
    address: recipient,
  })

  for (const [at, amount] of ['12.50', '0.000001', '100'].entries()) {
    const { orderId } = await sell(shop, `order, ${at}; é`, amount)
    expect((await orders.capture({ orderId })).status).toBe('captured')
  }
  const { buyer } = await sell(shop, 'spoiled')
  shop.spoil(true)
  const spoiled = await orders.capture({ orderId: 'spoiled' })
  expect(spoiled).toMatchObject({ status: 'rejected', reason: 'paused' })
  shop.spoil(false)
  await cancel(shop, 'canceled')
  await move(chain, buyer, recipient, 3n)
  await sell(shop, 'moved')
  expect((await orders.capture({ orderId: 'moved' })).status).toBe('captured')
  await mineBlocks(chain, 1)
  await chain.reorg({ depth: 2 })
  const cold = await chain.clients.relayer.account
  const spent = await getBalance(chain.clients.public, { address: recipient })
  await move(chain, account, cold.address, 50_000_000n)
  await mineBlocks(chain, 3)
  await orders.reconcile()

  const rows = await rowsOf(shop, { transfers: true })
  expect(rows.map(({ type }) => type)).toEqual([
    'opening',
    ...['capture', 'gas', 'capture', 'gas', 'capture', 'gas'],
    'gas',
    'gas',
    'transfer',
    'capture',
    'gas',
    'transfer',
    'closing',
  ])
  const [opening] = rows
  const closing = rows.at(-1)
  expect(opening).toMatchObject({ balance: 7_000_000n, net: 0n })
  expect(closing?.balance).toBe(await balanceOf(shop, closing?.blockNumber))
  const tokens = rows.filter(({ type }) => type !== 'gas')
  expect(7_000_000n + sum(tokens.map(({ net }) => net))).toBe(closing?.balance)
  // The withdrawal is no transaction of the shop: it is not among its gas.
  const gas = rows.filter(({ type }) => type === 'gas')
  expect(sum(gas.map(({ fee }) => fee))).toBe(ether - spent)

  const text = await textOf(toHledger(orders.ledger({ transfers: true })))
  const { read, judged } = await judgeJournal(text)
  const asset = `assets:31337:${chain.token.toLowerCase()}:${recipient}`
  const balance = formatAmount(await balanceOf(shop), 6)
  expect(read[asset]).toBe(balance)
  const coins = `assets:31337:ETH:${recipient}`
  expect(read[coins]).toBe(`-${formatAmount(ether - spent, 18)}`)
  if (judged) expect(judged).toEqual(read)
  const again = await textOf(toHledger(orders.ledger({ transfers: true })))
  expect(again).toBe(text)
  await orders.close()
})

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all.join('')
}

test('a part of the books begins with the balance before it, and ends before its end', async () => {
  const shop = await openLedgerShop(chain)
  const { orders } = shop
  const times: bigint[] = []
  for (const orderId of ['one', 'two', 'three']) {
    await sell(shop, orderId)
    await chain.warp(100)
    expect((await orders.capture({ orderId })).status).toBe('captured')
    times.push((await getBlock(chain.clients.public)).timestamp)
  }
  const [first = 0n, second = 0n, third = 0n] = times
  for (const transfers of [true, false]) {
    const rows = await rowsOf(shop, { from: second, to: third, transfers })
    const moved = rows.filter(({ gross, fee }) => gross !== 0n || fee !== 0n)
    expect(moved).toMatchObject([
      {
        type: 'capture',
        orderId: 'two',
        blockTime: second,
        gross: 12_500_000n,
      },
      { type: 'gas', orderId: 'two', blockTime: second, gross: 0n },
    ])
    const balances = rows.flatMap(({ balance }) => balance ?? [])
    expect(balances).toEqual(transfers ? [12_500_000n, 25_000_000n] : [])
  }
  const all = await rowsOf(shop, { from: first, to: third + 1n })
  expect(all).toEqual(await rowsOf(shop))
  expect(await rowsOf(shop, { from: third + 1n })).toEqual([])
  expect(await rowsOf(shop, { from: third, to: third })).toEqual([])
  await orders.close()
})
