import {
  CaptureRejectedError,
  cancelPayment,
  capturePayment,
  type SignedPayment,
} from 'countersign'
import { deployDevContract, devContracts } from 'countersign/devchain'
import { expect, test } from 'vitest'
import {
  chain,
  merchant,
  reader,
  relayer,
  seller,
  transfer,
} from '../../support/captureDesk.js'
import {
  countOf,
  domainOf,
  draft,
  fakeNode,
  fundedAccount,
  mined,
  newAccount,
  revoke,
} from '../../support/desk.js'

const refusals: [string, string, () => Promise<SignedPayment>][] = [
  [
    'a Transfer signature presented as Receive',
    'wrongSigner',
    async () => ({
      ...(await draft(chain, transfer)),
      primaryType: 'ReceiveWithAuthorization',
    }),
  ],
  [
    'a Receive signature presented as Transfer',
    'wrongSigner',
    async () => ({ ...(await draft(chain)), ...transfer }),
  ],
  [
    'a Receive payment to someone else',
    'wrongSubmitter',
    () => draft(chain, { to: relayer.account.address }),
  ],
  [
    'a window that is over',
    'expired',
    () => draft(chain, { validAfter: 1n, validBefore: 1000n }),
  ],
  [
    'a window yet to open',
    'notYetValid',
    () =>
      draft(chain, { validAfter: 5_000_000_000n, validBefore: 6_000_000_000n }),
  ],
  [
    'more than the payer holds',
    'insufficientFunds',
    () => draft(chain, { amount: '99000' }),
  ],
  [
    'another chain',
    'wrongChain',
    () => draft(chain, { domain: { ...domainOf(chain.token), chainId: 8453 } }),
  ],
  [
    'an address without code',
    'unsupportedToken',
    () => draft(chain, { domain: domainOf(newAccount().address) }),
  ],
  [
    'another name in the domain',
    'wrongDomain',
    () => draft(chain, { domain: domainOf(chain.token, 'USDC') }),
  ],
  [
    'a payment to oneself',
    'selfPayment',
    async () => {
      const payment = await draft(chain)
      const { from } = payment.message
      return { ...payment, message: { ...payment.message, to: from } }
    },
  ],
  [
    'a payment of nothing',
    'wrongAmount',
    async () => {
      const payment = await draft(chain)
      return { ...payment, message: { ...payment.message, value: 0n } }
    },
  ],
]

test.each(refusals)(
  '%s is refused, and nothing is sent',
  async (_, reason, make) => {
    const payment = await make()
    const before = await countOf(chain, seller)
    const error = await capturePayment(merchant, { payment }).catch((e) => e)
    expect(error).toBeInstanceOf(CaptureRejectedError)
    expect(error).toMatchObject({ reason, retryable: false })
    expect(await countOf(chain, seller)).toBe(before)
  },
)

test.each([
  [
    'captured',
    (payment: SignedPayment) =>
      mined(chain, capturePayment(merchant, { payment })),
  ],
  [
    'canceled',
    async (payment: SignedPayment) =>
      mined(
        chain,
        cancelPayment(relayer, {
          cancellation: await revoke(chain, payment),
        }),
      ),
  ],
])('a nonce that is %s is refused', async (_, spend) => {
  const payment = await draft(chain)
  await spend(payment)
  const before = await countOf(chain, seller)
  await expect(capturePayment(merchant, { payment })).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    reason: 'consumed',
    details: { words: 'FiatTokenV2: authorization is used or canceled' },
  })
  expect(await countOf(chain, seller)).toBe(before)
})

test.each([
  ['payer', 'payerBlocked'],
  ['recipient', 'recipientBlocked'],
] as const)('a blocked %s is refused', async (who, reason) => {
  const [from, to] = [
    await fundedAccount(chain, 12_500_000n),
    await fundedAccount(chain),
  ]
  const payment = await draft(chain, { signer: from, to: to.address })
  await chain.block({ account: who === 'payer' ? from.address : to.address })
  await expect(
    capturePayment(reader, { payment, account: to }),
  ).rejects.toMatchObject({ name: 'CaptureRejectedError', reason })
  expect(await countOf(chain, to)).toBe(0)
})

test('a paused token is refused', async () => {
  const payment = await draft(chain)
  await chain.pause()
  const refused = capturePayment(merchant, { payment })
  await expect(refused).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    message: 'Capture rejected: paused (Pausable: paused).',
    reason: 'paused',
  })
  await chain.pause(false)
})

test('a client of another chain is refused before anything is asked', async () => {
  const { client, asked } = fakeNode(chain, undefined, seller)
  const domain = { ...domainOf(chain.token), chainId: 8453 }
  const payment = await draft(chain, { domain })
  await expect(capturePayment(client, { payment })).rejects.toMatchObject({
    reason: 'wrongChain',
  })
  expect(asked).toEqual([])
})

test.each([
  ['a contract payer', 'unsimulatedWallet', { from: chain.token }],
  ['an expired window', 'expired', { validAfter: 1n, validBefore: 1000n }],
] as const)(
  'without a rehearsal %s is refused unasked',
  async (_, reason, changes) => {
    const { client, asked } = fakeNode(chain, undefined, seller)
    const payment = await draft(chain, changes)
    const refused = capturePayment(client, { payment, simulate: false })
    await expect(refused).rejects.toMatchObject({ reason })
    expect(asked).toEqual([])
  },
)

test('without a rehearsal a window of a live chain must be open', async () => {
  const { client, asked } = fakeNode(
    { ...chain, chain: { ...chain.chain, id: 8453 } },
    undefined,
    seller,
  )
  const payment = await draft(chain, {
    domain: { ...domainOf(chain.token), chainId: 8453 },
    validAfter: BigInt(Math.floor(Date.now() / 1000)) + 500n,
    validBefore: 9_000_000_000n,
  })
  const refused = capturePayment(client, { payment, simulate: false })
  await expect(refused).rejects.toMatchObject({ reason: 'notYetValid' })
  expect(asked).toEqual([])
})

test('a wallet that agrees only when gas is free is refused', async () => {
  const owner = newAccount()
  const liar = await deployDevContract(chain, {
    contract: devContracts.lyingWallet,
    args: [owner.address],
  })
  await chain.mint({ to: liar, value: 12_500_000n })
  const payment = await draft(chain, { signer: owner, from: liar })
  const before = await countOf(chain, seller)
  await expect(capturePayment(merchant, { payment })).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    reason: 'gasTooHigh',
  })
  expect(await countOf(chain, seller)).toBe(before)
})

test('a capture dearer than maxCaptureGas is refused', async () => {
  const payment = await draft(chain)
  const refused = capturePayment(merchant, { payment, maxCaptureGas: 50_000n })
  await expect(refused).rejects.toMatchObject({ reason: 'gasTooHigh' })
})
