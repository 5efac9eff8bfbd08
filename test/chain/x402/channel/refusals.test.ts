import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test, vi } from 'vitest'
import {
  channelOf,
  channelOfferOf,
  type Signing,
} from '../../support/channelPayer.js'
import { fundedAccount } from '../../support/desk.js'
import {
  deposit,
  most,
  openedChannel,
  openMockShop,
  payBy,
} from '../../support/mockChannelShop.js'
import { chain, requiredBy } from '../../support/x402Desk.js'

const handler = vi.fn(() => Response.json({}))
const shop = await openMockShop(handler)
const { url, desk } = shop
const stranger = privateKeyToAccount(generatePrivateKey())
const scheme = 'invalid_batch_settlement_evm_'

/** Changes a member of the voucher that is signed already. */
const voucher =
  (change: Record<string, unknown>): Signing['spoil'] =>
  (payload) => ({
    ...payload,
    voucher: { ...(payload.voucher as object), ...change },
  })

const config =
  (change: Record<string, unknown>): Signing['spoil'] =>
  (payload) => ({
    ...payload,
    channelConfig: { ...(payload.channelConfig as object), ...change },
  })

const deposited =
  (
    change: Record<string, unknown>,
    authorization: Record<string, unknown> = {},
  ): Signing['spoil'] =>
  (payload) => {
    const { amount, authorization: given } = payload.deposit as {
      amount: string
      authorization: { erc3009Authorization: object }
    }
    return {
      ...payload,
      deposit: {
        amount,
        authorization: {
          erc3009Authorization: {
            ...given.erc3009Authorization,
            ...authorization,
          },
        },
        ...change,
      },
    }
  }

const account = await openedChannel(url)
const address = `0x${'77'.repeat(20)}` as const

test.each<[string, Partial<Signing>, string]>([
  ['replayed', { max: most }, 'cumulative_amount_mismatch'],
  ['lower', { max: 2n * most - 1n }, 'cumulative_amount_mismatch'],
  ['higher', { max: 2n * most + 1n }, 'cumulative_amount_mismatch'],
  ['for two prices', { max: 3n * most }, 'cumulative_amount_mismatch'],
  ['signed by another', { signer: stranger }, 'voucher_signature'],
  [
    'signed for another amount',
    { max: most, spoil: voucher({ maxClaimableAmount: '20000' }) },
    'voucher_signature',
  ],
  [
    'signed as junk',
    { spoil: voucher({ signature: `0x${'12'.repeat(65)}` }) },
    'voucher_signature',
  ],
  [
    'signed by a contract wallet',
    { spoil: voucher({ signature: `0x${'12'.repeat(200)}` }) },
    'voucher_signature',
  ],
  ['unsigned', { spoil: voucher({ signature: '0x' }) }, 'payload_type'],
  [
    'in hex',
    { spoil: voucher({ maxClaimableAmount: '0x4e20' }) },
    'payload_type',
  ],
  [
    'with spaces',
    { spoil: voucher({ maxClaimableAmount: ' 20000 ' }) },
    'payload_type',
  ],
  [
    'with a leading zero',
    { spoil: voucher({ maxClaimableAmount: '020000' }) },
    'payload_type',
  ],
  [
    'as a number',
    { spoil: voucher({ maxClaimableAmount: 20000 }) },
    'payload_type',
  ],
  [
    'negative',
    { spoil: voucher({ maxClaimableAmount: '-20000' }) },
    'payload_type',
  ],
  [
    'above 128 bits',
    { spoil: voucher({ maxClaimableAmount: String(2n ** 128n) }) },
    'payload_type',
  ],
  ['with more members', { spoil: voucher({ more: '1' }) }, 'payload_type'],
  [
    'for another receiver',
    { config: { receiver: address } },
    'receiver_mismatch',
  ],
  ['for another token', { config: { token: address } }, 'token_mismatch'],
  [
    'for another authorizer',
    { config: { receiverAuthorizer: address } },
    'receiver_authorizer_mismatch',
  ],
  [
    'for another delay',
    { config: { withdrawDelay: 901 } },
    'withdraw_delay_mismatch',
  ],
  [
    'for a delay that the contract refuses',
    { spoil: config({ withdrawDelay: 60 }) },
    'payload_type',
  ],
  [
    'for a delay in digits',
    { spoil: config({ withdrawDelay: '900' }) },
    'payload_type',
  ],
  [
    'for another salt than that of its id',
    { spoil: config({ salt: `0x${'01'.repeat(32)}` }) },
    'channel_id_mismatch',
  ],
  [
    'for the id of another channel',
    { spoil: voucher({ channelId: `0x${'01'.repeat(32)}` }) },
    'channel_id_mismatch',
  ],
  [
    'of a channel that does not exist',
    { config: { salt: `0x${'02'.repeat(32)}` } },
    'channel_not_found',
  ],
  [
    'of type claim',
    { spoil: (given) => ({ ...given, type: 'claim' }) },
    'payload_type',
  ],
  [
    'of type settle',
    { spoil: (given) => ({ ...given, type: 'settle' }) },
    'payload_type',
  ],
  ['of no type', { spoil: ({ type: _, ...given }) => given }, 'payload_type'],
  [
    'with claims of its own',
    { spoil: (given) => ({ ...given, claims: [] }) },
    'payload_type',
  ],
])('a voucher %s is refused', async (_, signing, code) => {
  handler.mockClear()
  const answer = await payBy(account, `${url}/tokens`, {
    max: 2n * most,
    ...signing,
  })
  expect(answer.status).toBe(402)
  expect(requiredBy(answer).error).toBe(scheme + code)
  expect(handler).not.toHaveBeenCalled()
})

test.each<[string, Record<string, unknown>, string]>([
  ['network', { network: 'eip155:1' }, 'invalid_network'],
  ['amount', { amount: '1' }, 'invalid_payment_requirements'],
  ['asset', { asset: address }, 'invalid_payment_requirements'],
  ['payTo', { payTo: address }, 'invalid_payment_requirements'],
  [
    'delay',
    { extra: { name: 'USD Coin', version: '2', withdrawDelay: 901 } },
    'invalid_payment_requirements',
  ],
])('terms with another %s are refused', async (_, change, code) => {
  const answer = await payBy(account, `${url}/tokens`, {
    max: 2n * most,
    accept: (accepted) => ({ ...accepted, ...change }),
  })
  expect(answer.status).toBe(402)
  expect(requiredBy(answer).error).toBe(code)
})

test.each<[string, Partial<Signing>, string]>([
  ['below the least', { deposit: 5n * most - 1n }, 'deposit_below_min_deposit'],
  ['of one price', { deposit: most }, 'deposit_below_min_deposit'],
  ['of nothing', { deposit: 0n }, 'deposit_below_min_deposit'],
  ['that it has not', { deposit: 6n * deposit }, 'insufficient_balance'],
  [
    'signed for another amount',
    { spoil: deposited({ amount: '2000000' }) },
    'receive_authorization_signature',
  ],
  [
    'signed for another recipient',
    { message: { to: address } },
    'receive_authorization_signature',
  ],
  [
    'that ends in 3 seconds',
    { message: { validBefore: BigInt(Math.floor(Date.now() / 1000)) + 3n } },
    'payload_authorization_valid_before',
  ],
  [
    'that ends in a thousand years',
    { message: { validBefore: 2n ** 100n } },
    'payload_authorization_valid_before',
  ],
  [
    'that begins later',
    { message: { validAfter: BigInt(Math.floor(Date.now() / 1000)) + 100n } },
    'payload_authorization_valid_after',
  ],
  [
    'by Permit2',
    { spoil: deposited({ authorization: { permit2Authorization: {} } }) },
    'erc3009_authorization_required',
  ],
  ['in hex', { spoil: deposited({ amount: '0xf4240' }) }, 'payload_type'],
  [
    'with a nonce of its own',
    { spoil: deposited({}, { nonce: `0x${'01'.repeat(32)}` }) },
    'payload_type',
  ],
  [
    'and a voucher for two prices',
    { max: 2n * most },
    'cumulative_amount_mismatch',
  ],
  ['and a voucher for less', { max: 1n }, 'cumulative_amount_mismatch'],
])(
  'a deposit %s is refused before anything is sent',
  async (_, signing, code) => {
    const payer = await fundedAccount(chain, 5n * deposit)
    vi.mocked(desk.deposit).mockClear()
    handler.mockClear()
    const answer = await payBy(payer, `${url}/tokens`, {
      max: most,
      deposit,
      ...signing,
    })
    expect(answer.status).toBe(402)
    expect(requiredBy(answer).error).toBe(scheme + code)
    expect(desk.deposit).not.toHaveBeenCalled()
    expect(handler).not.toHaveBeenCalled()
  },
)

test('HEAD runs no handler', async () => {
  handler.mockClear()
  const init = { method: 'HEAD' }
  const answer = await fetch(`${url}/tokens`, init)
  expect(answer.status).toBe(402)
  expect(handler).not.toHaveBeenCalled()
})

test('who has a voucher that was claimed learns nothing about a channel', async () => {
  const payer = await openedChannel(url)
  const { id } = channelOf(
    payer.address,
    channelOfferOf(await fetch(`${url}/tokens`)),
  )
  await payBy(payer, `${url}/tokens?second`, { max: 2n * most })
  shop.onChain.set(id, { balance: deposit, claimed: most, withdrawing: 0n })
  await shop.copy(id)
  for (const query of ['first', 'second', 'other']) {
    const answer = await payBy(payer, `${url}/tokens?${query}`, { max: most })
    expect(answer.status).toBe(402)
    expect(requiredBy(answer).error).toBe(`${scheme}cumulative_below_claimed`)
    expect(channelOfferOf(answer).extra).not.toHaveProperty('channelState')
  }
})

test('a withdrawal that is announced stops service above what it leaves', async () => {
  const payer = await openedChannel(url)
  const { id } = channelOf(
    payer.address,
    channelOfferOf(await fetch(`${url}/tokens`)),
  )
  const withdrawing = deposit - 2n * most
  shop.onChain.set(id, { balance: deposit, claimed: 0n, withdrawing })
  await shop.copy(id)
  const safe = await payBy(payer, `${url}/tokens?safe`, { max: 2n * most })
  expect(safe.status).toBe(200)
  handler.mockClear()
  const answer = await payBy(payer, `${url}/tokens`, { max: 3n * most })
  expect(requiredBy(answer).error).toBe(`${scheme}cumulative_exceeds_balance`)
  const other = await payBy(payer, `${url}/tokens`, { max: 3n * most, deposit })
  expect(requiredBy(other).error).toBe(`${scheme}cumulative_exceeds_balance`)
  expect(handler).not.toHaveBeenCalled()
})

test('a withdrawal that is announced while the handler works leaves it unpaid, and the answer does not leave', async () => {
  const payer = await openedChannel(url)
  const { id } = channelOf(
    payer.address,
    channelOfferOf(await fetch(`${url}/tokens`)),
  )
  handler.mockImplementationOnce((async () => {
    const withdrawing = deposit - most
    shop.onChain.set(id, { balance: deposit, claimed: 0n, withdrawing })
    await shop.copy(id)
    return Response.json({ secret: 1 })
  }) as unknown as typeof handler)
  const answer = await payBy(payer, `${url}/tokens`, { max: 2n * most })
  expect(answer.status).toBe(402)
  expect(await answer.text()).not.toContain('secret')
  expect(shop.rows.get(id)?.charged).toBe(most)
})
