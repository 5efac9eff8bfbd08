import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import { sqliteStore } from 'countersign/sql'
import { getAddress } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { openShop } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
const folder = mkdtempSync(join(tmpdir(), 'countersign-inputs-'))
const store = sqliteStore({ file: join(folder, 'orders.db') })
const { orders } = await openShop(chain, { store })
afterAll(async () => {
  await orders.close()
  await chain.stop()
  rmSync(folder, { recursive: true, force: true })
})

type Verb = Exclude<
  keyof typeof orders,
  'within' | 'close' | 'suspend' | 'resume'
>

/** As JavaScript calls it, where no type is in the way. */
const call = async (verb: Verb, parameters?: unknown) =>
  (orders[verb] as (given?: unknown) => Promise<unknown>)(parameters)

const signal = new AbortController().signal
const signed = { orderId: 'none', cancellation: {} }

test.each<[Verb, string, unknown[]]>([
  ['list', 'before', [true, -1n, 2n ** 63n, 7, {}, () => 1]],
  ['list', 'states', ['stored', true, 7, {}]],
  ['list', 'chainId', ['31337', Number.NaN]],
  ['list', 'limit', [0, 201, '7']],
  ['events', 'after', [true, null, -1n, 2n ** 63n, 'first']],
  ['audit', 'fromBlock', ['latest', '0x1', 1, -1n, 2n ** 63n, null]],
  ['audit', 'toBlock', ['latest', Number.NaN, -1n, 2n ** 64n, {}]],
  ['reconcile', 'fromBlock', ['latest', 5, -1n, 2n ** 63n, null]],
  ['capture', 'timeout', [Number.NaN, -1, Number.POSITIVE_INFINITY, '9', 2e10]],
  ['draft', 'primaryType', [Symbol('Receive'), Object.create(null), '']],
])('%s takes no %s of another kind', async (verb, field, values) => {
  const { order } = await orders.draft({ amount: '1' })
  const needed: Partial<Record<Verb, object>> = {
    capture: { orderId: order.id },
    draft: { amount: '1' },
  }
  const rest = needed[verb]
  for (const value of values)
    await expect(call(verb, { ...rest, [field]: value })).rejects.toMatchObject(
      { name: 'InvalidFieldError', details: { field } },
    )
})

test('an unknown state is told by its place', async () => {
  await expect(
    call('list', { states: ['stored', 'paid'] }),
  ).rejects.toMatchObject({ details: { field: 'states[1]', value: '"paid"' } })
  expect((await orders.list({ states: [] })).orders).toEqual([])
})

test.each<Verb>([
  'draft',
  'accept',
  'reauthorize',
  'capture',
  'void',
  'cancellationToSign',
  'cancel',
  'get',
  'getForBuyer',
  'run',
])('%s without parameters is refused by a typed error', async (verb) => {
  for (const given of [undefined, null, 7, 'order'])
    await expect(call(verb, given)).rejects.toMatchObject({
      name: 'InvalidFieldError',
      details: { field: 'parameters', expected: 'an object' },
    })
})

test('a worker with nothing to stop it, or no room to work, is refused', async () => {
  for (const given of [undefined, null, {}])
    await expect(call('run', { signal: given })).rejects.toMatchObject({
      details: { field: 'signal' },
    })
  for (const concurrency of [0, -1, Number.NaN, 1.5, '4'])
    await expect(call('run', { signal, concurrency })).rejects.toMatchObject({
      details: { field: 'concurrency' },
    })
})

test('nothing is approved unless it is said', async () => {
  const { order } = await orders.draft({ amount: '1' })
  for (const approve of [undefined, false, 'true', 1])
    await expect(
      call('cancel', { orderId: order.id, approve }),
    ).rejects.toMatchObject({ details: { field: 'approve' } })
  await expect(call('cancel', signed)).rejects.toMatchObject({
    details: { field: 'cancellation.primaryType' },
  })
})

test('a destination is taken as people write addresses, and one that is none refused', async () => {
  const { chainId, token, recipient } =
    (await orders.health()).destinations[0] ?? {}
  if (!token || !recipient) throw new Error('no destination')
  const destination = {
    chainId,
    token: getAddress(token),
    recipient: getAddress(recipient),
  }
  const { destinations } = Object(await call('reconcile', { destination }))
  expect(destinations).toMatchObject([
    { destination: { chainId, token, recipient } },
  ])
  for (const wrong of [null, {}, { ...destination, token: 'mine' }])
    await expect(
      call('reconcile', { destination: wrong }),
    ).rejects.toMatchObject({
      name: 'InvalidFieldError',
    })
  await expect(
    call('reconcile', { destination: { ...destination, chainId: 1 } }),
  ).rejects.toMatchObject({ name: 'OrdersSetupError' })
})
