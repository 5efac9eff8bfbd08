import { channels, createChannels } from 'countersign/channels'
import { createOrders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { samplePayment } from 'countersign/testing'
import { createClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, expect, test } from 'vitest'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const client = createClient({ chain: base, account, transport: http() })
const store = memoryStore()
const orders = createOrders({
  store,
  seal: 'none',
  tokens: [{ client, token: samplePayment().domain.verifyingContract }],
  wallets: [client],
  kinds: [channels()],
})
afterAll(() => orders.close())

test.each([
  ['copyFor', 301n, '301 (bigint)'],
  ['copyFor', -1n, '-1 (bigint)'],
  ['claimAfter', 60, '60 (number)'],
])('a policy whose %s is %s is refused', (name, value, shown) => {
  const policy = { [name]: value }
  expect(() => createChannels({ orders, policy })).toThrow(
    expect.objectContaining({
      name: 'InvalidFieldError',
      message: expect.stringContaining(shown),
      details: expect.objectContaining({ field: `policy.${name}` }),
    }),
  )
})

test('a copy of the chain can be trusted for 300 seconds', () => {
  const policy = { copyFor: 300n }
  expect(() => createChannels({ orders, policy })).not.toThrow()
})

const wrong = [-1, Number.NaN, 2 ** 31, '5', 5n, null]

test.each(wrong)(
  'a timeout of %s is refused, and no key is made',
  async (given) => {
    const made = createChannels({ orders })
    const timeout = given as number
    const channelId = `0x${'11'.repeat(32)}` as const
    for (const asked of [
      made.rotateKey({ timeout }),
      made.claim({ timeout }),
      made.refund({ channelId, timeout }),
    ])
      await expect(asked).rejects.toMatchObject({
        name: 'InvalidFieldError',
        details: { field: 'timeout' },
      })
    const keys = store.read((it) => it.findValues('channelAuthorizer'))
    expect(await keys).toEqual([])
  },
)
