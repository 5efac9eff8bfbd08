import { expect, test } from 'vitest'
import { drawDestination, sampleEvent } from '../../test/storeCases/samples.js'
import { hour, moveClocks } from '../../test/unit/support/movedClocks.js'
import { StoreError } from './errors.js'
import { memoryStore } from './memoryStore.js'
import type { AttemptRecord, PaymentStore, StoreWriter } from './types.js'

type Attempt = Omit<AttemptRecord, 'version'>

const token = `0x${'a'.repeat(40)}` as const

const attempt = (facts: Partial<Attempt> = {}): Attempt => ({
  chainId: 8453,
  token,
  orderId: 'order-1',
  number: 1,
  nonce: `0x${'1'.repeat(64)}`,
  payer: undefined,
  validAfter: 100n,
  validBefore: 200n,
  signedAfter: undefined,
  signedBefore: undefined,
  signatureHash: undefined,
  spendableUntil: undefined,
  value: 12_500_000n,
  terms: undefined,
  spendable: false,
  signature: undefined,
  cancellation: undefined,
  ...facts,
})

const findAll = (store: PaymentStore) =>
  store.read(({ attempts }) => attempts.find({ orderIds: ['order-1'] }))

test('a store in memory is refused outside of tests, unless said so', () => {
  const { NODE_ENV, VITEST } = process.env
  try {
    process.env.NODE_ENV = 'production'
    delete process.env.VITEST
    expect(() => memoryStore()).toThrow(StoreError)
    expect(() => memoryStore({})).toThrow('pass volatile: true to allow this')
    expect(() => memoryStore({ volatile: true })).not.toThrow()
    process.env.NODE_ENV = 'test'
    expect(() => memoryStore()).not.toThrow()
  } finally {
    Object.assign(process.env, { NODE_ENV, VITEST })
  }
})

test('a store in memory works where there is no process', () => {
  const { process } = globalThis
  try {
    Reflect.deleteProperty(globalThis, 'process')
    expect(() => memoryStore()).toThrow(StoreError)
    expect(() => memoryStore({ volatile: true })).not.toThrow()
  } finally {
    globalThis.process = process
  }
})

test('a refused write that the work catches still keeps nothing', async () => {
  const store = memoryStore()
  const unit = store.write(async ({ attempts }) => {
    await attempts.insert([attempt()])
    await attempts.insert([attempt({ number: 2 })]).catch(() => undefined)
  })
  await expect(unit).rejects.toMatchObject({
    message: 'The table attempts already has this row.',
    details: { table: 'attempts' },
  })
  expect(await findAll(store)).toEqual([])
})

test('rows that were handed out or in cannot change what is kept', async () => {
  const store = memoryStore()
  const row = attempt()
  await store.write(({ attempts }) => attempts.insert([row]))
  row.value = 0n
  const [kept] = await findAll(store)
  expect(kept).toEqual({ ...attempt(), version: 1 })
  expect(() => Object.assign(kept ?? {}, { value: 0n })).toThrow(TypeError)
})

test('JSON is kept as JSON, and frozen to its depth', async () => {
  const store = memoryStore()
  const value = { at: new Date(0), list: [{ gone: undefined, n: 1 }] }
  await store.write((writer) => writer.setValue('a', value))
  value.list[0] = { gone: undefined, n: 2 }
  const kept = await store.read((reader) => reader.getValue('a'))
  const list = [{ n: 1 }]
  expect(kept).toStrictEqual({ at: '1970-01-01T00:00:00.000Z', list })
  expect(() => Object.assign(Object(kept?.list)[0], { n: 3 })).toThrow()
})

test('a read goes on seeing the state it began with', async () => {
  const store = memoryStore()
  const seen = await store.read(async ({ attempts }) => {
    const before = await attempts.find({ orderIds: ['order-1'] })
    await store.write((writer) => writer.attempts.insert([attempt()]))
    return [before, await attempts.find({ orderIds: ['order-1'] })]
  })
  expect(seen).toEqual([[], []])
  expect(await findAll(store)).toHaveLength(1)
})

test('what is written after its unit of work has ended is refused', async () => {
  const store = memoryStore()
  const leaked: StoreWriter[] = []
  await store.write(async (writer) => {
    leaked.push(writer)
  })
  await expect(leaked[0]?.attempts.insert([attempt()])).rejects.toThrow(
    'The store was written to after the unit of work had ended.',
  )
  expect(await findAll(store)).toEqual([])
})

test('listeners hear of what was kept, until they are taken off', async () => {
  const store = memoryStore()
  let heard = 0
  const listener = () => {
    heard++
  }
  const stop = store.onChange?.(listener)
  store.onChange?.(listener)
  await store.write((writer) => writer.setValue('a', {}))
  expect(heard).toBe(2)
  stop?.()
  await store.write((writer) => writer.setValue('a', {}))
  await store.write(() => Promise.reject(new Error('no'))).catch(() => {})
  expect(heard).toBe(3)
})

test('what a worker keeps under its lease is news to nobody, an event names the lease', async () => {
  const store = memoryStore()
  const heard: unknown[] = []
  store.onChange?.((by) => {
    heard.push(by)
  })
  const lease = await store.takeLease({
    key: 'watch',
    owner: 'one',
    milliseconds: 1000,
  })
  await store.write((writer) => writer.setValue('place', {}), { lease })
  await store.write(
    ({ events }) => events.append([sampleEvent(drawDestination())]),
    { lease },
  )
  await store.write(({ events }) =>
    events.append([sampleEvent(drawDestination())]),
  )
  expect(heard).toEqual(['watch', undefined])
})

test('a clock that is set back makes no lease longer', async () => {
  const { under } = moveClocks()
  const store = memoryStore()
  const dead = { key: 'submitter', owner: 'dead', milliseconds: 5 }
  await under({ ahead: hour }, () => store.takeLease(dead))
  const take = () => store.takeLease({ ...dead, owner: 'alive' })
  await expect.poll(take).toMatchObject({ owner: 'alive' })
})

test('a clock that is set forward ends no lease', async () => {
  const { under } = moveClocks()
  const store = memoryStore()
  const mine = { key: 'submitter', owner: 'a', milliseconds: 600_000 }
  await store.takeLease(mine)
  const other = { ...mine, owner: 'b' }
  const taken = await under({ ahead: hour }, () => store.takeLease(other))
  expect(taken).toBeUndefined()
})

test('a lease taken away while the work runs keeps nothing of it', async () => {
  const store = memoryStore()
  const mine = { key: 'submitter', owner: 'a', milliseconds: 5 }
  const lease = await store.takeLease(mine)
  const unit = store.write(
    async ({ attempts }) => {
      await attempts.insert([attempt()])
      await new Promise((resolve) => setTimeout(resolve, 10))
      await store.takeLease({ ...mine, owner: 'b' })
    },
    { lease },
  )
  await expect(unit).rejects.toThrow(
    'The lease submitter was released, or another process took it.',
  )
  expect(await findAll(store)).toEqual([])
})
