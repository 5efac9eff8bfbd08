import {
  buildCancellation,
  capturePayment,
  type Payment,
  type SignedCancellation,
  type SignedPayment,
  signCancellation,
  signPayment,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import {
  deployDevContract,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import { type Address, createWalletClient, http } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getCode, sendTransactionSync, signAuthorization } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  deployFamilies,
  type Family,
  type FamilyName,
} from '../../support/families.js'
import {
  balanceOf,
  cancelOf,
  cancelPageOf,
  captureOf,
  draft,
  freshPayer,
  orderOf,
  pageOf,
  verdictOf,
} from '../../support/settle.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: client, merchant, relayer } = chain.clients
const families = await deployFamilies(chain)
const delegates = {
  strict: await deployDevContract(chain, {
    contract: devContracts.strictDelegate,
  }),
  permissive: await deployDevContract(chain, {
    contract: devContracts.permissiveDelegate,
  }),
}

/** Delegates an account by its own authorization (EIP-7702). */
async function delegateTo(account: PrivateKeyAccount, code: Address) {
  const authorization = await signAuthorization(relayer, {
    account,
    contractAddress: code,
  })
  await sendTransactionSync(relayer, {
    to: account.address,
    authorizationList: [authorization],
  })
  if (!(await getCode(client, account))) throw new Error('not delegated')
}

function walletOf(account: PrivateKeyAccount) {
  return createWalletClient({ account, chain: chain.chain, transport: http() })
}

function signFor(
  payer: PrivateKeyAccount,
  payment: Payment,
  { decimals }: Family,
): Promise<SignedPayment> {
  const expect = pageOf(payment, decimals)
  return signPayment(walletOf(payer), { payment, expect })
}

function signCancellationOf(
  payer: PrivateKeyAccount,
  payment: Payment,
): Promise<SignedCancellation> {
  const cancellation = buildCancellation({ payment })
  const expect = cancelPageOf(cancellation)
  return signCancellation(walletOf(payer), { cancellation, expect })
}

async function judgeAndCapture(
  payment: SignedPayment,
  { decimals }: Family,
): Promise<string[]> {
  return [
    await verdictOf(chain, payment, decimals),
    await captureOf(chain, payment),
  ]
}

const primaryTypes = [
  'ReceiveWithAuthorization',
  'TransferWithAuthorization',
] as const

test.each(primaryTypes)(
  "OpenZeppelin's token settles %s for a plain key, once",
  async (primaryType) => {
    const token = families.openZeppelin
    const payer = await freshPayer(token)
    const payment = await draft(chain, token, {
      from: payer.address,
      primaryType,
    })
    const signed = await signFor(payer, payment, token)

    expect(await judgeAndCapture(signed, token)).toEqual(['ok', 'captured'])
    expect(await judgeAndCapture(signed, token)).toEqual([
      'consumed',
      'consumed',
    ])
  },
)

test("OpenZeppelin's token cancels for a plain key", async () => {
  const token = families.openZeppelin
  const payer = await freshPayer(token)
  const payment = await draft(chain, token, { from: payer.address })
  const signed = await signFor(payer, payment, token)

  expect(
    await cancelOf(chain, await signCancellationOf(payer, payment), payment),
  ).toBe('canceled')
  expect(await judgeAndCapture(signed, token)).toEqual(['consumed', 'consumed'])
})

const ok = 'captured' as const
const no = 'walletRejects' as const
/** What a token makes of a delegated account's plain signature. */
const delegated: readonly (readonly [
  FamilyName,
  keyof typeof delegates,
  typeof ok | typeof no,
])[] = [
  ['usdc', 'strict', no],
  ['usdc', 'permissive', ok],
  ['circle22', 'strict', no],
  ['circle22', 'permissive', ok],
  ['circle21', 'strict', ok],
  ['circle21', 'permissive', ok],
  ['paxos', 'strict', ok],
  ['paxos', 'permissive', ok],
  ['openZeppelin', 'strict', ok],
  ['openZeppelin', 'permissive', ok],
]
const delegatedByType = delegated.flatMap((row) =>
  primaryTypes.map((primaryType) => [...row, primaryType] as const),
)

test.each(delegatedByType)(
  '%s takes a key with a %s delegate as %s for %s',
  async (family, delegate, end, primaryType) => {
    const token = families[family]
    const payer = await freshPayer(token)
    await delegateTo(payer, delegates[delegate])
    const payment = await draft(chain, token, {
      from: payer.address,
      primaryType,
    })
    const signed = await signFor(payer, payment, token)

    expect(await judgeAndCapture(signed, token)).toEqual([
      end === 'captured' ? 'ok' : end,
      end,
    ])
  },
)

test.each(delegated)(
  '%s treats a cancellation by a key with a %s delegate alike',
  async (family, delegate, end) => {
    const token = families[family]
    const payer = await freshPayer(token)
    await delegateTo(payer, delegates[delegate])
    const payment = await draft(chain, token, { from: payer.address })

    expect(
      await cancelOf(chain, await signCancellationOf(payer, payment), payment),
    ).toBe(end === 'captured' ? 'canceled' : end)
  },
)

test('a payer who delegates after signing is refused from then on, and accepted again without the delegate', async () => {
  const token = families.circle22
  const payer = await freshPayer(token)
  const payment = await draft(chain, token, { from: payer.address })
  const signed = await signFor(payer, payment, token)
  expect(await verdictOf(chain, signed)).toBe('ok')

  await delegateTo(payer, delegates.strict)
  expect(await judgeAndCapture(signed, token)).toEqual([no, no])

  await delegateTo(payer, delegates.permissive)
  expect(await judgeAndCapture(signed, token)).toEqual(['ok', 'captured'])
})

test('an unrehearsed capture from a payer who delegated since reverts and is reported as that', async () => {
  const token = families.circle22
  const payer = await freshPayer(token)
  const payment = await draft(chain, token, { from: payer.address })
  const signed = await signFor(payer, payment, token)
  await delegateTo(payer, delegates.strict)

  const hash = await capturePayment(merchant, {
    payment: signed,
    simulate: false,
  })
  await expect(waitForOutcome(client, { payment, hash })).rejects.toMatchObject(
    {
      name: 'CaptureRevertedError',
      details: { words: 'FiatTokenV2: invalid signature' },
    },
  )
})

test.each(primaryTypes)(
  'a wallet that agrees only while gas is free is found out before %s is sent',
  async (primaryType) => {
    const token = families.circle22
    const { payer, signed } = await lyingPayer(token, primaryType)
    const nonce = await client.getTransactionCount(merchant.account)

    expect(await judgeAndCapture(signed, token)).toEqual([
      'gasTooHigh',
      'gasTooHigh',
    ])
    expect(await client.getTransactionCount(merchant.account)).toBe(nonce)
    expect(await balanceOf(chain, token.token, payer)).toBe(10_000_000n)
  },
)

test('more gas does not make a lying wallet honest', async () => {
  const token = families.circle22
  const { signed } = await lyingPayer(token, 'ReceiveWithAuthorization')

  expect(
    await verifyPayment(client, {
      payment: signed,
      expect: orderOf(signed),
      maxCaptureGas: 10_000_000n,
    }),
  ).toMatchObject({ ok: false, reason: 'gasTooHigh' })
})

test('a wallet contract is not captured from without a rehearsal', async () => {
  const { signed } = await lyingPayer(
    families.circle22,
    'ReceiveWithAuthorization',
  )

  await expect(
    capturePayment(merchant, { payment: signed, simulate: false }),
  ).rejects.toMatchObject({ reason: 'unsimulatedWallet' })
})

async function lyingPayer(
  token: Family,
  primaryType: (typeof primaryTypes)[number],
) {
  const owner = await freshPayer(token)
  const payer = await deployDevContract(chain, {
    contract: devContracts.lyingWallet,
    args: [owner.address],
  })
  await token.mint(payer, 10_000_000n)
  const payment = await draft(chain, token, { from: payer, primaryType })
  const signer = { ...owner, address: payer }
  const signed = await signFor(signer, payment, token)
  return { payer, signed }
}

test.each(['strict', 'permissive'] as const)(
  'a merchant whose own account has a %s delegate captures as any other',
  async (delegate) => {
    const token = families.circle22
    const shop = await freshPayer(token)
    await delegateTo(shop, delegates[delegate])
    await chain.clients.test.setBalance({
      address: shop.address,
      value: 10n ** 18n,
    })
    const payer = await freshPayer(token)
    const payment = await draft(chain, token, {
      from: payer.address,
      to: shop.address,
    })
    const signed = await signFor(payer, payment, token)

    expect(await verdictOf(chain, signed)).toBe('ok')
    const hash = await capturePayment(walletOf(shop), { payment: signed })
    expect(await waitForOutcome(client, { payment, hash })).toMatchObject({
      status: 'captured',
      proof: { submitter: shop.address.toLowerCase() },
    })
  },
)
