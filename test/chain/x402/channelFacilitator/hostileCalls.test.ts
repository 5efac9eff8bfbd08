import { getChannel, initiateWithdrawCall } from 'countersign/channels'
import { type Hex, type PrivateKeyAccount, zeroAddress } from 'viem'
import { sendTransaction } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  authorizerOf,
  managerCall,
  openChannelFacilitator,
  price,
  refundCall,
  rowOf,
  signCall,
} from '../../support/channelFacilitatorShop.js'
import { fundedAccount, newAccount } from '../../support/desk.js'
import { balanceOf, chain } from '../../support/x402Desk.js'

const prefix = 'invalid_batch_settlement_evm_'
const deposit = 100_000n

const shop = await openChannelFacilitator({
  callers: {
    one: { name: 'one' },
    two: { name: 'two' },
    elsewhere: { name: 'elsewhere', payTo: [] },
  },
})
const { seller: receiver, ask } = shop
const authorizer = await authorizerOf(shop)
const at = { receiver, authorizer }

/** Somebody with a channel of the caller `one`. */
async function openedChannel() {
  const account = await fundedAccount(chain, 10n * deposit)
  const call = await signCall(account, at, { max: price, deposit })
  expect(await ask('settle', call)).toMatchObject({ success: true })
  return { account, ...call }
}

const onChain = (channelId: Hex) =>
  getChannel(chain.clients.public, { channelId })

const voucher = (account: PrivateKeyAccount, max: bigint, changes = {}) =>
  signCall(account, at, { max, ...changes })

test('each caller has an authorizer of its own, and nobody else learns it', async () => {
  const other = await authorizerOf(shop, 'two')
  expect(other).not.toBe(authorizer)
  expect(await authorizerOf(shop)).toBe(authorizer)
  expect(JSON.stringify(shop.facilitator.supported())).not.toContain(authorizer)
  const stranger = await fetch(`${shop.url}/supported`)
  expect(stranger.status).toBe(401)
})

test('nobody but the caller whose channel it is has it refunded (E1) or claimed (E2)', async () => {
  const { account, id } = await openedChannel()
  const call = await voucher(account, 9n * price)
  const refund = refundCall(receiver, call, { amount: String(deposit) })
  const claim = managerCall(receiver, {
    type: 'claim',
    claims: [rowOf(call, 9n * price)],
  })
  for (const sent of [refund, claim]) {
    expect(await ask('settle', sent, 'nobody')).toEqual({
      error: 'unauthorized',
    })
    expect(await ask('settle', sent, 'two')).toMatchObject({
      success: false,
      errorReason: `${prefix}authorizer_address_mismatch`,
      transaction: '',
    })
    expect(await ask('settle', sent, 'elsewhere')).toMatchObject({
      success: false,
      errorReason: 'invalid_payment_requirements',
    })
  }
  expect(await onChain(id)).toMatchObject({ balance: deposit, claimed: 0n })
})

test('a refund above the rest is limited before it is signed (E6), and refused if the server signed it', async () => {
  const { account, id } = await openedChannel()
  const call = await voucher(account, 3n * price)
  const refund = refundCall(receiver, call, {
    amount: '999999',
    claims: [rowOf(call, 3n * price)],
  })
  const signed = refundCall(receiver, call, {
    amount: '999999',
    refundAuthorizerSignature: `0x${'11'.repeat(64)}1b`,
  })
  expect(await ask('settle', signed)).toMatchObject({
    errorReason: `${prefix}refund_amount_invalid`,
  })
  expect(await ask('settle', refund)).toMatchObject({
    success: true,
    amount: String(deposit - 3n * price),
    extra: { channelState: { balance: String(3n * price), refundNonce: '1' } },
  })
  expect(await onChain(id)).toMatchObject({ claimed: 3n * price })
  expect(await balanceOf(account.address)).toBe(10n * deposit - 3n * price)
})

test('a voucher that a pending withdrawal makes unsafe is refused (E3)', async () => {
  const { account, config } = await openedChannel()
  const verify = async (max: bigint) =>
    ask('verify', await voucher(account, max))
  expect(await verify(deposit)).toMatchObject({ isValid: true })
  await sendTransaction(chain.clients.relayer, {
    account,
    ...initiateWithdrawCall({ config, value: deposit - 2n * price }),
  })
  expect(await verify(3n * price)).toMatchObject({
    isValid: false,
    invalidReason: `${prefix}cumulative_exceeds_balance`,
  })
  const safe = await verify(2n * price)
  expect(safe).toMatchObject({
    isValid: true,
    extra: { balance: String(2n * price) },
  })
  expect(safe.extra?.withdrawRequestedAt).toBeGreaterThan(0)
})

const half = (signature: string) => signature.slice(0, 130)
const isOdd = (signature: string) => signature.endsWith('1c')
const curveOrder =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const forms = {
  'v of 0 or 1': (it) => `${half(it)}${isOdd(it) ? '01' : '00'}`,
  'v in two bytes': (it) => `${half(it)}00${it.slice(130)}`,
  'a high s': (it) => {
    const s = curveOrder - BigInt(`0x${it.slice(66, 130)}`)
    const high = s.toString(16).padStart(64, '0')
    return `${it.slice(0, 66)}${high}${isOdd(it) ? '1b' : '1c'}`
  },
} satisfies Record<string, (signature: string) => string>

test.each(Object.entries(forms))(
  'a signature with %s is refused at verify, and repaired in a claim (E4)',
  async (_, reform) => {
    const { account, id } = await openedChannel()
    const call = await voucher(account, 2n * price)
    const { payload } = Object(call.paymentPayload)
    const signature = reform(payload.voucher.signature)
    const reformed = {
      ...call,
      paymentPayload: {
        ...call.paymentPayload,
        payload: { ...payload, voucher: { ...payload.voucher, signature } },
      },
    }
    expect(await ask('verify', reformed)).toMatchObject({
      isValid: false,
      invalidReason: `${prefix}voucher_signature`,
    })
    const claims = [rowOf(call, 2n * price, { signature })]
    expect(
      await ask('settle', managerCall(receiver, { type: 'claim', claims })),
    ).toMatchObject({ success: true })
    expect(await onChain(id)).toMatchObject({ claimed: 2n * price })
  },
)

test('a channel whose payer can deny its vouchers is refused unless contracts are accepted (E5)', async () => {
  const account = await fundedAccount(chain, deposit)
  const config = { payerAuthorizer: zeroAddress }
  const signing = { max: price, deposit, config }
  expect(
    await ask('verify', await signCall(account, at, signing)),
  ).toMatchObject({ invalidReason: `${prefix}voucher_signature` })
  const accepting = await openChannelFacilitator({ contractPayers: 'accept' })
  const { seller } = accepting
  const other = {
    receiver: seller,
    authorizer: await authorizerOf(accepting),
  }
  const call = await signCall(account, other, signing)
  expect(await accepting.ask('verify', call)).toMatchObject({ isValid: true })
})

test('a deposit that one caller brought is not settled for another', async () => {
  const account = await fundedAccount(chain, deposit)
  const call = await signCall(account, at, { max: price, deposit })
  expect(await ask('settle', call)).toMatchObject({ success: true })
  expect(await ask('settle', call, 'two')).toMatchObject({
    success: false,
    errorReason: `${prefix}deposit_simulation_failed`,
  })
})

const spoiled: [string, string, Parameters<typeof signCall>[2]][] = [
  ['another signer', 'voucher_signature', { max: price, signer: newAccount() }],
  [
    'more than the balance',
    'cumulative_exceeds_balance',
    { max: deposit + 1n },
  ],
  [
    'no channel',
    'channel_not_found',
    { max: price, config: { salt: `0x${'07'.repeat(32)}` } },
  ],
  [
    'another receiver',
    'receiver_mismatch',
    { max: price, config: { receiver: newAccount().address } },
  ],
  [
    'another authorizer',
    'receiver_authorizer_mismatch',
    { max: price, config: { receiverAuthorizer: newAccount().address } },
  ],
  [
    'another delay',
    'withdraw_delay_mismatch',
    { max: price, config: { withdrawDelay: 901 } },
  ],
  [
    'an id that does not match',
    'channel_id_mismatch',
    {
      max: price,
      spoil: (it) => ({
        ...it,
        channelConfig: {
          ...Object(it.channelConfig),
          salt: `0x${'01'.repeat(32)}`,
        },
      }),
    },
  ],
  [
    'an amount in hex',
    'payload_type',
    {
      max: price,
      spoil: (it) => ({
        ...it,
        voucher: { ...Object(it.voucher), maxClaimableAmount: '0x10' },
      }),
    },
  ],
  ['a deposit of nothing', 'payload_type', { max: price, deposit: 0n }],
  [
    'a deposit below the voucher',
    'cumulative_exceeds_balance',
    { max: 2n * deposit, deposit: price },
  ],
  [
    'a deposit to somebody else',
    'receive_authorization_signature',
    { max: price, deposit, message: { to: newAccount().address } },
  ],
  [
    'a deposit that ends soon',
    'payload_authorization_valid_before',
    {
      max: price,
      deposit,
      message: { validBefore: BigInt(Math.floor(Date.now() / 1000)) + 3n },
    },
  ],
  [
    'a deposit that ends in a thousand years',
    'payload_authorization_valid_before',
    { max: price, deposit, message: { validBefore: 2n ** 100n } },
  ],
  [
    'a deposit without funds',
    'insufficient_balance',
    { max: price, deposit: 100n * deposit },
  ],
]

const payer = (await openedChannel()).account

test.each(spoiled)('%s is refused as %s', async (_, code, signing) => {
  const call = await signCall(payer, at, signing)
  expect(await ask('verify', call)).toMatchObject({
    isValid: false,
    invalidReason: `${prefix}${code}`,
  })
  if (signing.deposit !== undefined)
    expect(await ask('settle', call)).toMatchObject({
      success: false,
      errorReason: `${prefix}${code}`,
      transaction: '',
    })
})

const junk = [
  undefined,
  null,
  7,
  'x',
  [],
  {},
  { type: 'claim' },
  { type: 'claim', claims: [] },
  { type: 'claim', claims: [{}] },
  { type: 'settle' },
  { type: 'refund' },
  { type: 'voucher' },
  { type: 'deposit', deposit: { authorization: {} } },
]

test.each(junk)('the payload %j is refused', async (payload) => {
  const call = managerCall(receiver, payload as never)
  for (const route of ['verify', 'settle'] as const) {
    const answer = await ask(route, call)
    expect(answer.isValid ?? answer.success).toBe(false)
    expect(answer.invalidReason ?? answer.errorReason).toMatch(
      /_(payload_type|refund_payload|erc3009_authorization_required)$/,
    )
  }
})

test('while the sealer is away, servers of the exact scheme still learn what is supported', async () => {
  const away = async (): Promise<never> => {
    throw new Error('away')
  }
  const { url } = await openChannelFacilitator({
    seal: { current: 'one', keyNames: ['one'], seal: away, open: away },
  })
  const headers = { authorization: 'one' }
  const answer = await fetch(`${url}/supported`, { headers })
  expect(answer.status).toBe(200)
  const { kinds } = await answer.json()
  expect(kinds).toMatchObject([{ scheme: 'exact' }])
})
