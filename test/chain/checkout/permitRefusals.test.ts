import { capturePayment, verifyPayment, waitForOutcome } from 'countersign'
import { permitCheckout, type SignedPermitPayment } from 'countersign/checkout'
import { devContracts } from 'countersign/devchain'
import { type Address, encodeFunctionData, maxUint256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import {
  chain,
  client,
  fundedPayer,
  merchant,
  newAddress,
  node,
  send,
  domain as usdcDomain,
} from '../support/checkoutDesk.js'
import {
  domain,
  permitPayer,
  signedPermit,
  spender,
  submitPermit,
  token,
  tokenAbi,
} from '../support/permitDesk.js'

const kind = permitCheckout

/** A permit with this operator allows another contract. */
const operator = newAddress()

function verify(payment: SignedPermitPayment) {
  const expected = {
    token: payment.domain.verifyingContract,
    to: payment.checkout.recipient,
    operator: payment.checkout.operator,
    atMost: '50.00',
  }
  return verifyPayment(client, { payment, kind, expect: expected })
}

const capture = (payment: SignedPermitPayment, amount = '50') =>
  capturePayment(merchant, { payment, kind, amount })

type TokenCall = {
  functionName: 'approve' | 'transfer'
  args: [Address, bigint]
}

const call = (from: Address, to: Address, { functionName, args }: TokenCall) =>
  send(from, {
    to,
    data: encodeFunctionData({ abi: tokenAbi, functionName, args }),
  })

/** The two tokens: OpenZeppelin's has custom errors, Circle's has strings. */
const tokens = {
  'a token with custom errors': { domain, newPayer: () => permitPayer() },
  USDC: { domain: usdcDomain, newPayer: () => fundedPayer() },
}
type TokenName = keyof typeof tokens
const names = Object.keys(tokens) as TokenName[]

type Scene = {
  payer: PrivateKeyAccount
  payment: SignedPermitPayment
  /** Signs another permit of the same payer and token. */
  other(
    fields: Parameters<typeof signedPermit>[1],
  ): Promise<SignedPermitPayment>
}

async function setScene(name: TokenName): Promise<Scene> {
  const { domain, newPayer } = tokens[name]
  const payer = await newPayer()
  const other: Scene['other'] = (fields) =>
    signedPermit(payer, { domain, nonce: 0n, ...fields })
  return { payer, payment: await other({}), other }
}

type Case = readonly [
  string,
  reason: string,
  (scene: Scene) => Promise<unknown>,
]

const cases: readonly Case[] = [
  [
    'whose nonce a permit to somebody else took',
    'consumed',
    async ({ other }) => submitPermit(await other({ operator })),
  ],
  [
    'after which the payer used a later nonce',
    'consumed',
    async ({ payment, other }) => {
      await submitPermit(payment)
      await submitPermit(await other({ nonce: 1n }))
    },
  ],
  [
    'whose payer took the approval back',
    'consumed',
    async ({ payer, payment }) => {
      await submitPermit(payment)
      await call(payer.address, payment.domain.verifyingContract, {
        functionName: 'approve',
        args: [spender, 0n],
      })
    },
  ],
  [
    'whose nonce a smaller permit to the same contract took',
    'insufficientAllowance',
    async ({ other }) => submitPermit(await other({ atMost: '10.00' })),
  ],
  [
    'whose payer lowered the approval',
    'insufficientAllowance',
    async ({ payer, payment }) => {
      await submitPermit(payment)
      await call(payer.address, payment.domain.verifyingContract, {
        functionName: 'approve',
        args: [spender, 1n],
      })
    },
  ],
  [
    'whose payer spent the money',
    'insufficientFunds',
    async ({ payer, payment }) =>
      call(payer.address, payment.domain.verifyingContract, {
        functionName: 'transfer',
        args: [newAddress(), 60_000_000n],
      }),
  ],
]

test.each(names.flatMap((name) => cases.map((one) => [name, ...one] as const)))(
  'of %s, a permit %s is refused as %s',
  async (name, _, reason, change) => {
    const scene = await setScene(name)
    expect(await verify(scene.payment)).toMatchObject({ ok: true })
    await change(scene)
    expect(await verify(scene.payment)).toMatchObject({ ok: false, reason })
    await expect(capture(scene.payment)).rejects.toMatchObject({
      name: 'CaptureRejectedError',
      reason,
    })
  },
)

test.each(names)(
  'of %s, a permit with a nonce whose turn has not come is refused by name',
  async (name) => {
    const { other } = await setScene(name)
    const payment = await other({ nonce: 1n })
    expect(await verify(payment)).toMatchObject({ reason: 'wrongNonce' })
  },
)

test('an allowance that is too low for the ceiling is enough for less', async () => {
  const { payment, other } = await setScene('a token with custom errors')
  await submitPermit(await other({ atMost: '10.00' }))
  await expect(capture(payment)).rejects.toMatchObject({
    reason: 'insufficientAllowance',
  })
  const hash = await capture(payment, '10')
  const outcome = await waitForOutcome(client, { payment, kind, hash })
  expect(outcome).toMatchObject({ proof: { amount: 10_000_000n } })
})

test('a permit with the highest nonce is refused, and is no fault', async () => {
  const { other } = await setScene('a token with custom errors')
  const payment = await other({ nonce: maxUint256 })
  expect(await verify(payment)).toMatchObject({ ok: false })
})

test('a contract wallet cannot pay by a permit that its token takes from keys only', async () => {
  const { payer, payment } = await setScene('a token with custom errors')
  const { deployedBytecode } = devContracts.permissiveWallet
  await node.setCode({ address: payer.address, bytecode: deployedBytecode })
  const signature = `${payment.signature.slice(0, -4)}aa1b` as const
  expect(
    await verify({ ...payment, signature: signature as `0x${string}` }),
  ).toMatchObject({ reason: 'unsupportedToken' })
})

const blocks: readonly Case[] = [
  ['USDC is paused', 'paused', () => chain.pause()],
  [
    'the payer is blocked',
    'payerBlocked',
    ({ payer: { address: account } }) => chain.block({ account }),
  ],
  [
    'the recipient is blocked',
    'recipientBlocked',
    ({ payment }) => chain.block({ account: payment.checkout.recipient }),
  ],
]

test.each(blocks)(
  'a permit while %s is refused as %s',
  async (_, reason, change) => {
    const scene = await setScene('USDC')
    const { payment } = scene
    await change(scene)
    try {
      expect(await verify(payment)).toMatchObject({ ok: false, reason })
    } finally {
      await chain.pause(false)
      await chain.block({ account: payment.checkout.recipient, blocked: false })
    }
  },
)

test('a capture that reverts because the allowance is too low says so', async () => {
  const { payer, payment } = await setScene('a token with custom errors')
  await submitPermit(payment)
  await call(payer.address, token, {
    functionName: 'approve',
    args: [spender, 1n],
  })
  const hash = await capturePayment(merchant, {
    payment,
    kind,
    amount: '50',
    simulate: false,
  })
  await expect(
    waitForOutcome(client, { payment, kind, hash }),
  ).rejects.toMatchObject({
    name: 'CaptureRevertedError',
    reason: 'insufficientAllowance',
  })
})

test('a capture that reverts because the recipient is blocked blames the recipient, not the payer', async () => {
  const { payment } = await setScene('USDC')
  const account = payment.checkout.recipient
  await chain.block({ account })
  const hash = await capturePayment(merchant, {
    payment,
    kind,
    amount: '50',
    simulate: false,
  })
  await expect(
    waitForOutcome(client, { payment, kind, hash }).finally(() =>
      chain.block({ account, blocked: false }),
    ),
  ).rejects.toMatchObject({ reason: 'recipientBlocked' })
})
