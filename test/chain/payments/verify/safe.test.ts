import {
  buildCancellation,
  captureCall,
  getPaymentOutcome,
  hashPayment,
  type Payment,
  type PrimaryType,
  type SignedPayment,
  signCancellation,
  signPayment,
} from 'countersign'
import {
  deployDevToken,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import { type Address, concatHex, type Hex, numberToHex, size } from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import {
  approvalOf,
  approveMessage,
  deploySafeContracts,
  ethSignAsSafe,
  executeAsSafe,
  joinSignatures,
  type Safe,
  signAsSafe,
} from '../../support/safe.js'
import {
  cancelOf,
  cancelPageOf,
  captureOf,
  draft,
  freshPayer,
  pageOf,
  type SettledToken,
  tokenOf,
  verdictOf,
} from '../../support/settle.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const usdc = tokenOf(chain)
const makeSafe = await deploySafeContracts(chain)
const newOwner = (): PrivateKeyAccount =>
  privateKeyToAccount(generatePrivateKey())

type Setup = { owners?: number; threshold?: number; token?: SettledToken }

async function undeployedSafe({
  owners = 1,
  threshold = 1,
  token = usdc,
}: Setup = {}) {
  const safe = await makeSafe(
    Array.from({ length: owners }, newOwner),
    threshold,
  )
  await token.mint(safe.address, 10_000_000n)
  return safe
}

async function deployedSafe(setup: Setup = {}): Promise<Safe> {
  const safe = await undeployedSafe(setup)
  await safe.deploy()
  return safe
}

function draftFrom(
  safe: Safe,
  options: { token?: SettledToken; primaryType?: PrimaryType } = {},
): Promise<Payment> {
  const { token = usdc, ...rest } = options
  return draft(chain, token, { from: safe.address, ...rest })
}

function firstOwner({ owners: [owner] }: Safe): PrivateKeyAccount {
  if (!owner) throw new Error('a Safe without owners')
  return owner
}

/** Tells what the verifier says, and then what the chain does. */
async function judgeAndCapture(payment: SignedPayment): Promise<string[]> {
  return [await verdictOf(chain, payment), await captureOf(chain, payment)]
}

/** A wallet connected as a Safe, such as its web application. */
function connectedAs(safe: Safe, signature: Hex) {
  const answers: Record<string, unknown> = {
    eth_chainId: numberToHex(chain.chain.id),
    eth_signTypedData_v4: signature,
  }
  return {
    account: safe.address,
    request: async ({ method }: { method: string }) => answers[method],
  }
}

const primaryTypes = [
  'ReceiveWithAuthorization',
  'TransferWithAuthorization',
] as const

test.each(primaryTypes)(
  'a Safe of one owner pays by %s through v, r, s',
  async (primaryType) => {
    const safe = await deployedSafe()
    const payment = await draftFrom(safe, { primaryType })
    const signature = await signAsSafe(safe, payment)
    const signed = await signPayment(connectedAs(safe, signature), {
      payment,
      expect: pageOf(payment),
    })

    expect(captureCall({ payment: signed }).args).toHaveLength(9)
    expect(await judgeAndCapture(signed)).toEqual(['ok', 'captured'])
  },
)

test.each(primaryTypes)(
  'two of three owners of a Safe pay by %s through bytes',
  async (primaryType) => {
    const safe = await deployedSafe({ owners: 3, threshold: 2 })
    const payment = await draftFrom(safe, { primaryType })
    const signature = await signAsSafe(safe, payment, safe.owners.slice(1))
    const signed = await signPayment(connectedAs(safe, signature), {
      payment,
      expect: pageOf(payment),
    })

    expect(captureCall({ payment: signed }).args).toHaveLength(7)
    expect(await judgeAndCapture(signed)).toEqual(['ok', 'captured'])
  },
)

test.each([
  [1, 1],
  [3, 2],
])(
  'a Safe with %i owner(s) cancels with %i signature(s)',
  async (owners, threshold) => {
    const safe = await deployedSafe({ owners, threshold })
    const payment = await draftFrom(safe)
    const signature = await signAsSafe(
      safe,
      payment,
      safe.owners.slice(0, threshold),
    )
    const unsigned = buildCancellation({ payment })
    const cancellation = await signCancellation(
      connectedAs(
        safe,
        await signAsSafe(safe, unsigned, safe.owners.slice(0, threshold)),
      ),
      { cancellation: unsigned, expect: cancelPageOf(unsigned) },
    )

    expect(await cancelOf(chain, cancellation, payment)).toBe('canceled')
    expect(await judgeAndCapture({ ...payment, signature })).toEqual([
      'consumed',
      'consumed',
    ])
  },
)

test('a signature by somebody who owns no part of the Safe is refused', async () => {
  const safe = await deployedSafe()
  const payment = await draftFrom(safe)
  const signature = await signAsSafe(safe, payment, [newOwner()])

  expect(await judgeAndCapture({ ...payment, signature })).toEqual([
    'walletRejects',
    'walletRejects',
  ])
})

test('one signature where the Safe wants two is refused', async () => {
  const safe = await deployedSafe({ owners: 3, threshold: 2 })
  const payment = await draftFrom(safe)
  const signature = await signAsSafe(safe, payment, [firstOwner(safe)])

  expect(await judgeAndCapture({ ...payment, signature })).toEqual([
    'walletRejects',
    'walletRejects',
  ])
})

test("an owner's signature of the payment itself, without the Safe's message, is refused", async () => {
  const safe = await deployedSafe()
  const payment = await draftFrom(safe)
  const hash = hashPayment(payment)
  const signature = await firstOwner(safe).sign({ hash })

  expect(await judgeAndCapture({ ...payment, signature })).toEqual([
    'walletRejects',
    'walletRejects',
  ])
})

test('an owner signs with eth_sign, and v of 31 or 32 is left alone', async () => {
  const safe = await deployedSafe()
  const payment = await draftFrom(safe)
  const signature = await ethSignAsSafe(safe, payment, firstOwner(safe))
  const signed = await signPayment(connectedAs(safe, signature), {
    payment,
    expect: pageOf(payment),
  })

  expect(signed.signature).toBe(signature)
  expect(await judgeAndCapture(signed)).toEqual(['ok', 'captured'])
})

test('a hash approved on chain counts as a signature, and v of 1 is left alone', async () => {
  const safe = await deployedSafe()
  const payment = await draftFrom(safe)
  const signed = { ...payment, signature: approvalOf(firstOwner(safe)) }

  expect(await judgeAndCapture(signed)).toEqual([
    'walletRejects',
    'walletRejects',
  ])
  await approveMessage(chain, safe, payment, firstOwner(safe))
  expect(await judgeAndCapture(signed)).toEqual(['ok', 'captured'])
})

test('owners of one Safe mix an approved hash, eth_sign and a plain signature', async () => {
  const safe = await deployedSafe({ owners: 3, threshold: 3 })
  const payment = await draftFrom(safe)
  const [first, second, third] = safe.owners
  if (!first || !second || !third) throw new Error('three owners')
  await approveMessage(chain, safe, payment, first)
  const signature = joinSignatures([
    [first, approvalOf(first)],
    [second, await ethSignAsSafe(safe, payment, second)],
    [third, await signAsSafe(safe, payment, [third])],
  ])

  expect(size(signature)).toBe(195)
  expect(await judgeAndCapture({ ...payment, signature })).toEqual([
    'ok',
    'captured',
  ])
})

test('an ERC-6492 wrapper around a deployed Safe is taken off', async () => {
  const safe = await deployedSafe({ owners: 3, threshold: 2 })
  const payment = await draftFrom(safe)
  const inner = await signAsSafe(safe, payment, safe.owners.slice(0, 2))
  const signed = { ...payment, signature: safe.wrap(inner) }

  expect(captureCall({ payment: signed }).args).toContain(inner)
  expect(await judgeAndCapture(signed)).toEqual(['ok', 'captured'])
})

test.each([
  [1, 1],
  [3, 2],
])(
  'a Safe of %i owner(s) and a threshold of %i pays once it is deployed, with the signature from before',
  async (owners, threshold) => {
    const safe = await undeployedSafe({ owners, threshold })
    const payment = await draftFrom(safe)
    const inner = await signAsSafe(
      safe,
      payment,
      safe.owners.slice(0, threshold),
    )
    const signed = { ...payment, signature: safe.wrap(inner) }

    expect(await judgeAndCapture(signed)).toEqual([
      'walletNotDeployed',
      'walletNotDeployed',
    ])
    await safe.deploy()
    expect(await judgeAndCapture(signed)).toEqual(['ok', 'captured'])
  },
)

test('a Safe that loses the signing owner after signing is refused at capture', async () => {
  const safe = await deployedSafe()
  const payment = await draftFrom(safe)
  const signature = await signAsSafe(safe, payment)
  const signed = { ...payment, signature }
  expect(await verdictOf(chain, signed)).toBe('ok')

  await executeAsSafe(chain, safe, {
    to: safe.address,
    data: swapOwner(firstOwner(safe).address, newOwner().address),
  })
  expect(await judgeAndCapture(signed)).toEqual([
    'walletRejects',
    'walletRejects',
  ])
})

/** `swapOwner(prevOwner, oldOwner, newOwner)`; the list starts at address 1. */
function swapOwner(old: Address, next: Address): Hex {
  return concatHex([
    '0xe318b52b',
    ...(['0x1', old, next] as const).map((address) =>
      numberToHex(BigInt(address), { size: 32 }),
    ),
  ])
}

test('a token of plain signatures only refuses a Safe, each form for its own reason', async () => {
  const contract = devContracts.fiatTokenV2_1
  const address = await deployDevToken(chain, { contract })
  const token: SettledToken = {
    decimals: 6,
    domain: {
      ...usdc.domain,
      verifyingContract: address.toLowerCase() as Address,
    },
    mint: (to, value) => chain.mint({ to, value, token: address }),
  }
  const verdicts: Record<string, string[]> = {}
  for (const threshold of [1, 2]) {
    const safe = await deployedSafe({ owners: 2, threshold, token })
    const payment = await draftFrom(safe, { token })
    const signature = await signAsSafe(
      safe,
      payment,
      safe.owners.slice(0, threshold),
    )
    verdicts[`${threshold} signed`] = await judgeAndCapture({
      ...payment,
      signature,
    })
  }

  expect(verdicts).toEqual({
    '1 signed': ['wrongSigner', 'wrongSigner'],
    '2 signed': ['unsupportedToken', 'unsupportedToken'],
  })
})

test('a Safe as the merchant captures a Receive payment, and the outcome is proven', async () => {
  const merchant = await deployedSafe()
  const payer = await freshPayer(usdc)
  const payment = await draft(chain, usdc, {
    from: payer.address,
    to: merchant.address,
  })
  const signed = await signPayment(payerWallet(payer), {
    payment,
    expect: pageOf(payment),
  })
  expect(await verdictOf(chain, signed)).toBe('ok')

  const hash = await executeAsSafe(
    chain,
    merchant,
    captureCall({ payment: signed }),
  )
  expect(
    await getPaymentOutcome(chain.clients.public, { payment, hash }),
  ).toMatchObject({
    status: 'captured',
    proof: {
      transactionHash: hash,
      submitter: chain.clients.relayer.account.address.toLowerCase(),
      finality: 'included',
    },
  })
})

function payerWallet(account: PrivateKeyAccount) {
  const request = () => Promise.reject(new Error('not asked'))
  return { account, request }
}
