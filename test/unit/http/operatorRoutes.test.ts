import { createMerchantClient } from 'countersign/client'
import { createPaymentHandler } from 'countersign/http'
import { expect, test } from 'vitest'
import { recipientOf } from '../support/fakeOrders.js'
import { stubOrders } from '../support/httpStub.js'

/** A merchant's client, and the verbs that were called. */
function openOperator(grant: { operates?: boolean | undefined }) {
  const called: string[] = []
  const note = (name: string) => async () => {
    called.push(name)
  }
  const orders = stubOrders({
    suspend: note('suspend'),
    resume: note('resume'),
    reseal: async () => {
      called.push('reseal')
      return { resealed: 3, left: 1 }
    },
  })
  const handle = createPaymentHandler(orders, {
    authorize: () => ({ recipients: [recipientOf('a')], ...grant }),
  })
  const client = createMerchantClient({
    url: 'https://shop.test',
    key: 'the key',
    fetch: handle,
  })
  return { client, called }
}

test('who operates the database suspends, resumes and reseals', async () => {
  const { client, called } = openOperator({ operates: true })
  expect(await client.suspend()).toEqual({ suspended: true })
  expect(await client.resume()).toEqual({ suspended: false })
  expect(await client.reseal()).toEqual({ resealed: 3, left: 1 })
  expect(called).toEqual(['suspend', 'resume', 'reseal'])
})

test.each([{}, { operates: false }, { operates: 'false' as never }])(
  'any other merchant may not, as with %o',
  async (grant) => {
    const { client, called } = openOperator(grant)
    for (const ask of [client.suspend, client.resume, client.reseal])
      await expect(ask()).rejects.toMatchObject({
        reason: 'operationForbidden',
        status: 403,
      })
    expect(called).toEqual([])
  },
)
