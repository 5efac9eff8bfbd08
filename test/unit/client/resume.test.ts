import { createMerchantClient } from 'countersign/client'
import { expect, test } from 'vitest'

test('resume is not sent again after a lost answer, so that it undoes no suspend', async () => {
  const sent: string[] = []
  let isSuspended = true
  const merchant = createMerchantClient({
    url: 'https://shop.example/payments',
    key: 'key',
    fetch: async ({ url }) => {
      sent.push(new URL(url).pathname)
      isSuspended = false
      if (sent.length > 1) return Response.json({ suspended: false })
      // The server resumed. The answer is lost, and an operator suspends.
      isSuspended = true
      throw new TypeError('fetch failed')
    },
  })

  await expect(merchant.resume()).rejects.toMatchObject({ name: 'ServerError' })
  expect(sent).toEqual(['/payments/merchant/resume'])
  expect(isSuspended).toBe(true)
})
