import { expect, test, vi } from 'vitest'
import {
  channelOf,
  channelOfferOf,
  type Signing,
} from '../../support/channelPayer.js'
import {
  deposit,
  most,
  openedChannel,
  openMockShop,
  payBy,
} from '../../support/mockChannelShop.js'
import { requiredBy, settlementOf } from '../../support/x402Desk.js'

const handler = vi.fn(() => Response.json({}))
const shop = await openMockShop(handler)
const { url, desk } = shop
const scheme = 'invalid_batch_settlement_evm_'

const refund =
  (more: Record<string, unknown> = {}): Signing['spoil'] =>
  (payload) => ({ ...payload, type: 'refund', ...more })

test('what is left goes back to the payer, and no handler runs', async () => {
  const account = await openedChannel(url)
  handler.mockClear()
  const answer = await payBy(account, `${url}/tokens`, {
    max: most,
    spoil: refund(),
  })
  const { id } = channelOf(
    account.address,
    channelOfferOf(await fetch(`${url}/tokens`)),
  )
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({
    message: 'Refund acknowledged',
    channelId: id,
  })
  const settled = settlementOf(answer)
  expect(settled).toMatchObject({
    success: true,
    transaction: expect.stringMatching(/^0x[\da-f]{64}$/),
    amount: '990000',
    extra: {
      channelState: {
        balance: '10000',
        totalClaimed: '10000',
        chargedCumulativeAmount: '10000',
      },
    },
  })
  expect(settled.extra).not.toHaveProperty('chargedAmount')
  expect(handler).not.toHaveBeenCalled()
})

test('a part is paid back that is not smaller than the least deposit', async () => {
  const account = await openedChannel(url)
  const { id } = channelOf(
    account.address,
    channelOfferOf(await fetch(`${url}/tokens`)),
  )
  const balance = 3n * deposit
  shop.onChain.set(id, { balance, claimed: 0n, withdrawing: 0n })
  const answer = await payBy(account, `${url}/tokens`, {
    max: most,
    spoil: refund({ amount: '1000000' }),
  })
  expect(settlementOf(answer)).toMatchObject({ amount: '1000000' })
})

test('two refunds that are asked for at once each get an answer of their own', async () => {
  const account = await openedChannel(url)
  const { id } = channelOf(
    account.address,
    channelOfferOf(await fetch(`${url}/tokens`)),
  )
  const balance = 4n * deposit
  shop.onChain.set(id, { balance, claimed: 0n, withdrawing: 0n })
  const ask = (amount: string) =>
    payBy(account, `${url}/tokens`, { max: most, spoil: refund({ amount }) })
  const turns = vi.spyOn(desk, 'inTurn')
  const make = vi.mocked(desk.refund).getMockImplementation()
  let second: ReturnType<typeof ask> | undefined
  vi.mocked(desk.refund).mockImplementationOnce(async (...given) => {
    second = ask('2000000')
    // It waits for its turn, and joins nothing.
    await vi.waitFor(() => expect(turns).toHaveBeenCalledTimes(2), 10_000)
    if (!make) throw new Error('no mock')
    return make(...given)
  })
  expect(settlementOf(await ask('1000000'))).toMatchObject({
    amount: '1000000',
  })
  expect(settlementOf((await second) as Response)).toMatchObject({
    amount: '2000000',
  })
  turns.mockRestore()
})

test.each<[string, Partial<Signing>, string]>([
  ['of nothing', { spoil: refund({ amount: '0' }) }, 'refund_amount_invalid'],
  [
    'of a small part',
    { spoil: refund({ amount: '1' }) },
    'refund_amount_invalid',
  ],
  ['below nothing', { spoil: refund({ amount: '-1' }) }, 'refund_payload'],
  ['in hex', { spoil: refund({ amount: '0xf' }) }, 'refund_payload'],
  [
    'with a nonce of its own',
    { spoil: refund({ refundNonce: '0' }) },
    'refund_payload',
  ],
  [
    'with a voucher for more than what was charged',
    { max: 2n * most, spoil: refund() },
    'cumulative_amount_mismatch',
  ],
  [
    'with a voucher for less than what was charged',
    { max: 1n, spoil: refund() },
    'cumulative_amount_mismatch',
  ],
])(
  'a refund %s is refused before anything is signed',
  async (_, signing, code) => {
    const account = await openedChannel(url)
    vi.mocked(desk.refund).mockClear()
    const answer = await payBy(account, `${url}/tokens`, {
      max: most,
      ...signing,
    })
    expect(answer.status).toBe(402)
    expect(requiredBy(answer).error).toBe(scheme + code)
    expect(desk.refund).not.toHaveBeenCalled()
  },
)

test('a refund that was begun and not made can be asked for again, though its voucher is public', async () => {
  const account = await openedChannel(url)
  vi.mocked(desk.refresh).mockImplementationOnce(async (row) => ({
    ...row,
    claimed: row.charged,
    state: 'stopped',
    reason: 'refund',
  }))
  const answer = await payBy(account, `${url}/tokens`, {
    max: most,
    spoil: refund(),
  })
  expect(answer.status).toBe(200)
  expect(settlementOf(answer)).toMatchObject({ amount: '990000' })
})

test('nothing is paid back of a channel that is used up, or that its payer withdraws from', async () => {
  const account = await openedChannel(url)
  const { id } = channelOf(
    account.address,
    channelOfferOf(await fetch(`${url}/tokens`)),
  )
  const signing = { max: most, spoil: refund() }
  shop.onChain.set(id, { balance: most, claimed: 0n, withdrawing: 0n })
  const used = await payBy(account, `${url}/tokens`, signing)
  expect(requiredBy(used).error).toBe(`${scheme}refund_no_balance`)
  shop.onChain.set(id, { balance: deposit, claimed: 0n, withdrawing: 5n })
  const pending = await payBy(account, `${url}/tokens`, signing)
  expect(requiredBy(pending).error).toBe(`${scheme}cumulative_exceeds_balance`)
  expect(desk.refund).not.toHaveBeenCalledWith(
    expect.objectContaining({ id }),
    expect.anything(),
  )
})
