import { expect, test, vi } from 'vitest'
import { memoryStore } from '../store/memoryStore.js'
import type { PaymentStore } from '../store/types.js'
import { storeLater } from './storeLater.js'

test('a store is loaded once, when it is first used', async () => {
  const load = vi.fn(async () => memoryStore())
  const store = storeLater(load, { notifies: false })
  expect(load).not.toHaveBeenCalled()
  const opened = await Promise.all([store.open(), store.open()])
  expect(load).toHaveBeenCalledTimes(1)
  expect(opened[0]).toEqual(opened[1])
})

test('a store that could not be loaded is loaded again', async () => {
  const load = vi
    .fn<() => Promise<PaymentStore>>(async () => memoryStore())
    .mockRejectedValueOnce(new Error('no package'))
  const store = storeLater(load, { notifies: false })
  await expect(store.open()).rejects.toThrow('no package')
  await expect(store.open()).resolves.toHaveProperty('identity')
})

test('a store closed before its first use loads nothing and stays closed', async () => {
  const load = vi.fn(async () => memoryStore())
  const store = storeLater(load, { notifies: false })
  await store.close()
  await expect(store.open()).rejects.toThrow('The store is closed.')
  expect(load).not.toHaveBeenCalled()
})

test('a listener hears the store as soon as it is loaded, until it leaves', async () => {
  const left = vi.fn()
  const onChange = vi.fn(() => left)
  const loaded = { ...memoryStore(), onChange }
  const store = storeLater(async () => loaded, { notifies: true })
  const leave = store.onChange?.(() => {})
  await store.open()
  expect(onChange).toHaveBeenCalledTimes(1)
  leave?.()
  expect(left).toHaveBeenCalledTimes(1)
})

test('a listener that left before the store was loaded is not registered', async () => {
  const onChange = vi.fn(() => () => {})
  const loaded = { ...memoryStore(), onChange }
  const store = storeLater(async () => loaded, { notifies: true })
  store.onChange?.(() => {})()
  await store.open()
  expect(onChange).not.toHaveBeenCalled()
})

test('a store that does not notify has no way to listen', () => {
  const store = storeLater(async () => memoryStore(), { notifies: false })
  expect(store).not.toHaveProperty('onChange')
})
