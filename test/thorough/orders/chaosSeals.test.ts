import { startDevChain } from 'countersign/devchain'
import { sealer } from 'countersign/store'
import { afterAll, afterEach, expect, test } from 'vitest'
import { sealContextOf } from '../../../src/orders/model/paymentOf.js'
import { sealOf } from '../../../src/orders/sending/signDrafts.js'
import { acceptCancellation } from '../../../src/orders/verbs/acceptCancellation.js'
import { seed, sqliteFile, startChance } from '../../chain/support/chaos.js'
import { draft, fundedAccount, revoke } from '../../chain/support/desk.js'
import {
  capture,
  captureAll,
  openNonces,
  openShop,
  rowsOf,
  type Shop,
  type ShopParameters,
  storeOrder,
  storeOrders,
  timesPaid,
} from '../../chain/support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
const { test: control, public: reader } = chain.clients
afterAll(() => chain.stop())
afterEach(() => control.setAutomine(true))

const key = crypto.getRandomValues(new Uint8Array(32))
const seal = () => sealer({ keys: { test: key }, current: 'test' })

/** A newer key, while the one before it cannot be fetched. */
function losingKey() {
  let isDown = true
  const keys = {
    test: async () => {
      if (isDown) throw new Error('no answer')
      return key
    },
    next: crypto.getRandomValues(new Uint8Array(32)),
  }
  const recover = () => {
    isDown = false
  }
  return { seal: sealer({ keys, current: 'next' }), recover }
}

const newShop = async (parameters: Partial<ShopParameters> = {}) =>
  openShop(chain, {
    account: await fundedAccount(chain),
    store: sqliteFile().store,
    seal: seal(),
    ...parameters,
  })

/** Flips one bit of what was sealed. */
function flipBit(sealed: string, random: () => number): string {
  const [name, version, letters = ''] = sealed.split(' ')
  const bytes = Buffer.from(letters, 'base64url')
  const at = Math.floor(random() * bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8))
  return `${name} ${version} ${bytes.toString('base64url')}`
}

/** Changes what is sealed in the row of an order's attempt. */
function tamper(
  { context }: Shop,
  orderId: string | undefined,
  change: (sealed: string) => string,
  field: 'signature' | 'cancellation' = 'signature',
): Promise<void> {
  return context.store.write(async ({ attempts }) => {
    const found = await attempts.find({ orderIds: [orderId ?? ''] })
    await attempts.update(
      found.map((row) => ({ ...row, [field]: change(row[field] ?? '') })),
    )
  })
}

const sentBy = ({ account: { address } }: Shop) =>
  reader.getTransactionCount({ address, blockTag: 'pending' })

test(`a sealed signature of which one bit was changed is not sent, and stops no other order [seed ${seed}]`, async () => {
  const random = startChance(5)
  const shop = await newShop()
  const ids = await storeOrders(shop, 24)
  const changed = ids.filter((_, at) => at % 2 === 0)
  for (const id of changed)
    await tamper(shop, id, (sealed) => flipBit(sealed, random))
  const states = await captureAll(shop, ids)
  expect(states).toEqual(
    ids.map((id) => (changed.includes(id) ? 'rejected' : 'captured')),
  )
  const others = ids.filter((id) => !changed.includes(id))
  expect(await timesPaid(shop, changed)).toEqual(changed.map(() => 0))
  expect(await timesPaid(shop, others)).toEqual(others.map(() => 1))
  expect(await sentBy(shop)).toBe(12)
  const { orders } = await rowsOf(shop, changed)
  expect(
    new Set(orders.map(({ state, reason }) => [state, reason].join())),
  ).toEqual(new Set(['stored,sealBroken']))
  expect(
    shop.seen
      .filter(({ name }) => name === 'seal.broken')
      .map(({ attributes }) => attributes.error),
  ).toEqual(changed.map(() => 'SealError'))
})

test('a sealed signature moved to the row of another order is not sent, and can be put back', async () => {
  const shop = await newShop()
  const [one = '', other = '', third = ''] = await storeOrders(shop, 3)
  const { attempts } = await rowsOf(shop, [one])
  const moved = attempts[0]?.signature ?? ''
  let kept = ''
  await tamper(shop, other, (sealed) => {
    kept = sealed
    return moved
  })
  expect(await captureAll(shop, [one, other, third])).toEqual([
    'captured',
    'rejected',
    'captured',
  ])
  expect(await capture(shop, other)).toMatchObject({ reason: 'sealBroken' })
  await tamper(shop, other, () => kept)
  expect(await capture(shop, other)).toMatchObject({ status: 'captured' })
  expect(await timesPaid(shop, [one, other, third])).toEqual([1, 1, 1])
})

test('a key that cannot be fetched holds up what is sealed with it, and nothing else', async () => {
  const account = await fundedAccount(chain)
  const { store } = sqliteFile()
  const policy = { relayCancellations: 'always' } as const
  const before = await newShop({ account, store, policy })
  const [old = ''] = await storeOrders(before, 1)
  const payment = await draft(chain, { to: account.address, amount: '1' })
  const canceled = await storeOrder(before, payment)
  await acceptCancellation(before.context, {
    orderId: canceled,
    cancellation: await revoke(chain, payment),
  })
  await before.engine.stop()
  const { seal, recover } = losingKey()
  const shop = await newShop({ account, store, policy, seal })
  const [fresh = ''] = await storeOrders(shop, 1)
  const waiting = capture(shop, old, 1_000)
  expect(await capture(shop, fresh)).toMatchObject({ status: 'captured' })
  expect(await waiting).toMatchObject({ status: 'unknown' })
  const { orders } = await rowsOf(shop, [old, canceled])
  const told = orders.map(({ state, requested, reason }) => [
    state,
    requested,
    reason,
  ])
  expect(told.sort()).toEqual([
    ['stored', 'cancel', undefined],
    ['stored', 'capture', undefined],
  ])
  expect(
    shop.seen.filter(({ attributes }) => attributes.orderId === old)[0],
  ).toMatchObject({
    name: 'submitter.failed',
    attributes: { words: 'The store could not get the key test.' },
  })
  recover()
  await chain.warp(10n)
  expect(await captureAll(shop, [old, canceled])).toEqual([
    'captured',
    'rejected',
  ])
  expect(await timesPaid(shop, [old, fresh])).toEqual([1, 1])
  expect(await timesPaid(shop, [canceled])).toEqual([0])
  expect(await sentBy(shop)).toBe(3)
})

test('what is stuck is not given up because its key cannot be fetched', async () => {
  const account = await fundedAccount(chain)
  const { store } = sqliteFile()
  const policy = { bumpAfter: 3 }
  const before = await newShop({ account, store, policy })
  const ids = await storeOrders(before, 1)
  const [id = ''] = ids
  await control.setAutomine(false)
  const asked = capture(before, id)
  await expect.poll(() => openNonces(before)).toBe(1)
  await before.engine.stop()
  await asked
  await control.request({ method: 'anvil_dropAllTransactions' } as never)
  const { seal, recover } = losingKey()
  const shop = await newShop({ account, store, policy, seal })
  const waiting = capture(shop, id)
  // The submitter sees it stuck time after time, and cannot read what it is.
  const isSeen = async () => {
    await chain.warp(5n)
    return shop.seen.filter(({ attributes }) => attributes.orderId === id)
      .length
  }
  await expect
    .poll(isSeen, { timeout: 20_000, interval: 100 })
    .toBeGreaterThan(1)
  const { orders, transactions } = await rowsOf(shop, ids)
  expect(orders).toMatchObject([{ state: 'capturing', reason: undefined }])
  expect(transactions.map(({ kind }) => kind)).toEqual(['capture'])
  recover()
  await control.setAutomine(true)
  expect(await waiting).toMatchObject({ status: 'captured' })
  expect(await timesPaid(shop, ids)).toEqual([1])
})

test('a cancellation that does not open is not sent, and stops no other order', async () => {
  const shop = await newShop({ policy: { relayCancellations: 'always' } })
  const account = shop.account.address
  const payments = await Promise.all(
    [1, 2].map(() => draft(chain, { to: account, amount: '1' })),
  )
  const ids = await Promise.all(payments.map((one) => storeOrder(shop, one)))
  for (const [at, payment] of payments.entries())
    await acceptCancellation(shop.context, {
      orderId: ids[at] ?? '',
      cancellation: await revoke(chain, payment),
    })
  // A payment's signature is none of a cancellation, even of the same order.
  const { attempts } = await rowsOf(shop, ids)
  const first = attempts.find(({ orderId }) => orderId === ids[0])
  await tamper(shop, ids[0], () => first?.signature ?? '', 'cancellation')
  expect(await captureAll(shop, ids)).toEqual(['rejected', 'rejected'])
  const { orders } = await rowsOf(shop, ids)
  const byId = new Map(orders.map((order) => [order.id, order]))
  expect(ids.map((id) => byId.get(id)?.state)).toEqual(['stored', 'canceled'])
  expect(byId.get(ids[0] ?? '')?.reason).toBe('sealBroken')
  expect(await sentBy(shop)).toBe(1)
})

test('bytes on record that do not open are made anew, or given up, at their nonce', async () => {
  const account = await fundedAccount(chain)
  const { store } = sqliteFile()
  const lost: ShopParameters['answer'] = ({ method }, forward) =>
    method === 'eth_sendRawTransaction'
      ? Promise.reject(new Error('fetch failed'))
      : forward()
  const shop = await newShop({ account, store, answer: lost })
  const ids = await storeOrders(shop, 3)
  const waits = captureAll(shop, ids, 1_000)
  expect(await waits).toEqual(['unknown', 'unknown', 'unknown'])
  await shop.engine.stop()
  const { transactions } = await rowsOf(shop, ids)
  const [first, second, third] = transactions
  const broken = third?.movements[0]?.orderId ?? ''
  await store.write(async (tables) => {
    // The bytes of another order, at whose nonce they would pay it.
    if (first && second && third)
      await tables.transactions.update([
        { ...first, raw: second.raw },
        { ...third, raw: second.raw },
      ])
  })
  await tamper(shop, broken, () => 'nothing sealed')
  const later = openShop(chain, { account, store, seal: seal() })
  expect(await captureAll(later, ids)).toEqual(
    ids.map((id) => (id === broken ? 'rejected' : 'captured')),
  )
  expect(await capture(later, broken)).toMatchObject({ reason: 'sealBroken' })
  const others = ids.filter((id) => id !== broken)
  expect(await timesPaid(later, others)).toEqual([1, 1])
  expect(await timesPaid(later, [broken])).toEqual([0])
  expect(await openNonces(later)).toBe(0)
  expect(await sentBy(later)).toBe(3)
})

test('what is sealed opens for its own place alone', async () => {
  const shop = await newShop()
  const ids = await storeOrders(shop, 2)
  const { orders, attempts } = await rowsOf(shop, ids)
  for (const order of orders)
    for (const attempt of attempts) {
      const place = sealContextOf('payment', order, attempt)
      const opened = shop.context.sealer.open(attempt.signature ?? '', place)
      await (order.id === attempt.orderId
        ? expect(opened).resolves.toMatch(/^0x[\da-f]{130}$/)
        : expect(opened).rejects.toThrow('was sealed for something else'))
    }
})

test('the bytes of one attempt cannot be swapped: each opens at its own nonce and kind', async () => {
  const shop = await newShop({ policy: { pollingInterval: 20 } })
  const [orderId = ''] = await storeOrders(shop, 1)
  expect(await captureAll(shop, [orderId])).toEqual(['captured'])
  const { orders, attempts, transactions } = await rowsOf(shop, [orderId])
  const [order] = orders
  const [attempt] = attempts
  const [row] = transactions
  if (!order || !attempt || !row?.raw) throw new Error('nothing was sent')
  const { raw } = row
  const open = (at: typeof row) => shop.context.sealer.open(raw, sealOf(at))
  expect(await open(row)).toMatch(/^0x02/)
  await expect(open({ ...row, nonce: row.nonce + 1 })).rejects.toThrow('else')
  await expect(open({ ...row, kind: 'cancel' })).rejects.toThrow('else')
  await expect(open({ ...row, bump: row.bump + 1 })).rejects.toThrow('else')
  const payment = sealContextOf('payment', order, attempt)
  await expect(shop.context.sealer.open(raw, payment)).rejects.toThrow('else')
})
