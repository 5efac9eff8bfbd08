import { type DevChain, startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  balanceOf,
  move,
  openLedgerShop,
  rowsOf,
  sell,
  sum,
} from '../../support/ledgerShop.js'
import { mineBlocks } from '../../support/watching.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
})
afterAll(() => chain.stop())

test('when the chain is reorganized while the books are read, they end with an error, and are right afterwards', async () => {
  const shop = await openLedgerShop(chain)
  const { orders } = shop
  await sell(shop, 'kept')
  expect((await orders.capture({ orderId: 'kept' })).status).toBe('captured')
  await mineBlocks(chain, 2)
  const rows = orders.ledger({ transfers: true })
  expect((await rows.next()).value).toMatchObject({ type: 'opening' })
  await chain.reorg({ depth: 1 })
  const rest = async () => {
    for await (const _ of rows);
  }
  await expect(rest()).rejects.toMatchObject({ name: 'NodeAnswerError' })
  const all = await rowsOf(shop, { transfers: true })
  expect(all.at(-1)?.balance).toBe(await balanceOf(shop))
  await orders.close()
})

test('a reorganization that the record has not seen does not change what the chain shows', async () => {
  const shop = await openLedgerShop(chain)
  const { orders } = shop
  await sell(shop, 'moved')
  expect((await orders.capture({ orderId: 'moved' })).status).toBe('captured')
  await mineBlocks(chain, 1)
  await chain.reorg({ depth: 2 })
  // The node mines its transactions again, at once or a moment later.
  await expect.poll(() => balanceOf(shop)).toBe(12_500_000n)
  const unseen = await rowsOf(shop, { transfers: true })
  const typesOf = (rows: typeof unseen) => rows.map(({ type }) => type)
  // Until it is reconciled, no proof is at this place of the chain.
  expect(typesOf(unseen)).toEqual(['opening', 'transfer', 'gas', 'closing'])
  await orders.reconcile()
  const seen = await rowsOf(shop, { transfers: true })
  expect(typesOf(seen)).toEqual(['opening', 'capture', 'gas', 'closing'])
  for (const rows of [unseen, seen]) {
    const opening = rows[0]?.balance ?? 0n
    const moved = sum(
      rows.filter(({ type }) => type !== 'gas').map(({ net }) => net),
    )
    expect(opening + moved).toBe(await balanceOf(shop))
  }
  await orders.close()
})

test('tokens that a recipient sends to itself come and go', async () => {
  const shop = await openLedgerShop(chain)
  const { orders, account, recipient } = shop
  await sell(shop, 'sold')
  expect((await orders.capture({ orderId: 'sold' })).status).toBe('captured')
  await move(chain, account, recipient, 500n)
  const rows = await rowsOf(shop, { transfers: true })
  expect(rows.slice(-3)).toMatchObject([
    { type: 'transfer', net: 500n, payer: recipient },
    { type: 'transfer', net: -500n, payee: recipient },
    { type: 'closing', balance: 12_500_000n },
  ])
  await orders.close()
})

test('the books end with the reason of their signal, and with the first wrong parameter', async () => {
  const shop = await openLedgerShop(chain)
  const { orders } = shop
  for (const orderId of ['one', 'two']) {
    await sell(shop, orderId)
    expect((await orders.capture({ orderId })).status).toBe('captured')
  }
  for (const transfers of [false, true]) {
    const stop = new AbortController()
    const rows = orders.ledger({ transfers, signal: stop.signal })
    await rows.next()
    const reason = new Error('the client left')
    stop.abort(reason)
    await expect(rows.next()).rejects.toBe(reason)
    expect(await rows.next()).toMatchObject({ done: true })
  }
  for (const wrong of [
    { from: -1n },
    { from: 1 },
    { to: '7' },
    { to: 2n ** 64n },
    { transfers: 'yes' },
    { signal: {} },
  ]) {
    const error = await orders
      .ledger(wrong as never)
      .next()
      .catch((it: unknown) => it)
    expect(error).toMatchObject({
      name: 'InvalidFieldError',
      details: { field: Object.keys(wrong)[0] },
    })
  }
  await orders.close()
})
