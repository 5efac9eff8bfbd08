import { expect, test } from 'vitest'
import type { OrdersHealth } from '../orders/index.js'
import { createHealthReader } from './readHealth.js'

const report = { suspended: false } as OrdersHealth

test('health that fails or hangs is absent, and read again after a failure', async () => {
  let calls = 0
  const orders = {
    health: async () => {
      calls++
      if (calls === 1) throw new Error('the database is gone')
      return report
    },
  }
  const read = createHealthReader({ orders })
  expect(await read()).toBeUndefined()
  expect(await read()).toEqual({ orders: report, channels: undefined })
})

test('a health that throws at once is absent too', async () => {
  const health = () => {
    throw new Error('broken')
  }
  expect(await createHealthReader({ orders: { health } })()).toBeUndefined()
})

test('one that hangs is asked once, however often it is read', async () => {
  let calls = 0
  let answer = (_: OrdersHealth): void => undefined
  const health = () => {
    calls++
    return new Promise<OrdersHealth>((resolve) => {
      answer = resolve
    })
  }
  const read = createHealthReader({ orders: { health } }, 5)
  expect([await read(), await read(), await read()]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(calls).toBe(1)
  const late = read()
  answer(report)
  expect(await late).toEqual({ orders: report, channels: undefined })
  void read()
  expect(calls).toBe(2)
})
