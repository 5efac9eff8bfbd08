import { expect, test } from 'vitest'
import { openStub, reasonOf } from '../support/httpStub.js'

const token = 'a'.repeat(64)
const headers = { authorization: `Bearer ${token}` }

test('a crowd of buyers is refused at once beyond 500, and does not lock out the merchant', async () => {
  let count = 0
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const ask = openStub({
    getForBuyer: async () => {
      count++
      await ended
      throw new Error('hung')
    },
    list: async () => ({ orders: [], cursor: undefined }),
  })
  const all = Array.from({ length: 500 }, () =>
    ask('/payments/orders/one', { headers }),
  )
  await expect.poll(() => count).toBe(500)
  const refused = await ask('/payments/orders/one', { headers })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await reasonOf(refused)).toEqual([503, 'overloaded'])
  expect(count).toBe(500)
  expect((await ask('/payments/merchant/orders')).status).toBe(200)
  end()
  await Promise.all(all)
  const later = await ask('/payments/orders/one', { headers })
  expect(await reasonOf(later)).toEqual([500, 'internal'])
})
