import {
  CaptureRevertedError,
  cancelPayment,
  capturePayment,
  type PrimaryType,
  type SignedPayment,
  signCapture,
  waitForOutcome,
} from 'countersign'
import {
  deployDevToken,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import type { Hash } from 'viem'
import {
  sendRawTransaction,
  waitForTransactionReceipt,
  writeContractSync,
} from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { devAuthority } from '../../../../src/devchain/initializeToken.js'
import { sendAs } from '../../../../src/devchain/sendAs.js'
import {
  draft,
  fundedAccount,
  mined,
  type newAccount,
  revoke,
} from '../../support/desk.js'
import {
  delegate,
  deployFamilies,
  type Family,
  type FamilyName,
} from '../../support/families.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
const families = await deployFamilies(chain)
const { public: reader, merchant, relayer } = chain.clients

type Scene = {
  family: Family
  payment: SignedPayment
  signer: ReturnType<typeof newAccount>
  to: ReturnType<typeof newAccount>
}

async function setScene(
  name: FamilyName,
  changes: Parameters<typeof draft>[1] = {},
): Promise<Scene> {
  const family = families[name]
  const { domain, decimals } = family
  const [signer, to] = [await fundedAccount(chain), await fundedAccount(chain)]
  const primaryType: PrimaryType =
    name === 'circle20'
      ? 'TransferWithAuthorization'
      : 'ReceiveWithAuthorization'
  const sides = { signer, to: to.address }
  const payment = await draft(chain, {
    domain,
    decimals,
    primaryType,
    ...sides,
    ...changes,
  })
  await family.mint(signer.address, payment.message.value)
  return { family, payment, signer, to }
}

/** Signs unrehearsed, lets the world change, then sends. */
async function sendAfter(
  { payment, to }: Scene,
  change: () => Promise<unknown> = async () => undefined,
): Promise<Hash> {
  const simulate = false
  const { raw } = await signCapture(reader, { payment, account: to, simulate })
  await change()
  return sendRawTransaction(reader, { serializedTransaction: raw })
}

async function reverted(scene: Scene, hash: Hash): Promise<unknown> {
  const { payment } = scene
  const error = await waitForOutcome(reader, { payment, hash }).catch((e) => e)
  expect(error).toBeInstanceOf(CaptureRevertedError)
  const { reason, words, transactionHash } = error.details
  expect([error.reason, transactionHash]).toEqual([reason, hash])
  return [reason, words]
}

const spendAll = ({ family, signer, payment }: Scene) =>
  writeContractSync(reader, {
    account: signer,
    address: family.token,
    abi: [
      {
        type: 'function',
        name: 'transfer',
        stateMutability: 'nonpayable',
        inputs: [
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
        ],
        outputs: [],
      },
    ],
    functionName: 'transfer',
    args: [relayer.account.address, payment.message.value],
    chain: chain.chain,
  })

test.each([
  ['usdc', 'ERC20: transfer amount exceeds balance'],
  ['circle22', 'ERC20: transfer amount exceeds balance'],
  ['circle21', 'ERC20: transfer amount exceeds balance'],
  ['circle20', 'ERC20: transfer amount exceeds balance'],
  ['paxos', 'InsufficientFunds()'],
  ['openZeppelin', 'ERC20InsufficientBalance()'],
] as const)('%s: the payer moved the funds', async (name, words) => {
  const scene = await setScene(name)
  const hash = await sendAfter(scene, () => spendAll(scene))
  expect(await reverted(scene, hash)).toEqual(['insufficientFunds', words])
})

test.each([
  ['usdc', 'Pausable: paused'],
  ['circle22', 'Pausable: paused'],
  ['circle21', 'Pausable: paused'],
  ['circle20', 'Pausable: paused'],
  ['paxos', 'ContractPaused()'],
] as const)('%s: the token is paused', async (name, words) => {
  const scene = await setScene(name)
  const hash = await sendAfter(scene, async () => scene.family.pause?.(true))
  const told = await reverted(scene, hash)
  await scene.family.pause?.(false)
  expect(told).toEqual(['paused', words])
})

const blacklisted = 'Blacklistable: account is blacklisted'

test.each([
  ['usdc', 'payer', blacklisted],
  ['usdc', 'recipient', blacklisted],
  ['circle22', 'payer', blacklisted],
  ['circle22', 'recipient', blacklisted],
  ['circle21', 'payer', blacklisted],
  ['circle20', 'recipient', blacklisted],
  ['paxos', 'payer', 'AddressFrozen()'],
  ['paxos', 'recipient', 'AddressFrozen()'],
] as const)('%s: the %s is blocked', async (name, who, words) => {
  const scene = await setScene(name)
  const { address } = who === 'payer' ? scene.signer : scene.to
  const hash = await sendAfter(scene, async () =>
    scene.family.block?.(address, true),
  )
  expect(await reverted(scene, hash)).toEqual([`${who}Blocked`, words])
})

test.each([
  ['usdc', 'FiatTokenV2: invalid signature'],
  ['circle22', 'FiatTokenV2: invalid signature'],
  ['circle21', 'FiatTokenV2: invalid signature'],
  ['circle20', 'FiatTokenV2: invalid signature'],
  ['paxos', 'InvalidSignature()'],
  ['openZeppelin', 'ERC3009InvalidSignature()'],
] as const)('%s: signed for another domain', async (name, words) => {
  const domain = { ...families[name].domain, name: 'Other Coin' }
  const scene = await setScene(name, { domain })
  const hash = await sendAfter(scene)
  expect(await reverted(scene, hash)).toEqual(['wrongDomain', words])
})

test('a payer who delegated in between is told from a wrong signer', async () => {
  const scene = await setScene('circle22')
  const { address } = scene.signer
  const hash = await sendAfter(scene, () =>
    delegate(chain, address, devContracts.strictDelegate),
  )
  expect(await reverted(scene, hash)).toEqual([
    'walletRejects',
    'FiatTokenV2: invalid signature',
  ])
})

test('a token renamed in between is told from a wrong signer', async () => {
  const token = await deployDevToken(chain)
  const [signer, to] = [await fundedAccount(chain), await fundedAccount(chain)]
  const domain = { ...families.circle22.domain, verifyingContract: token }
  const payment = await draft(chain, { domain, signer, to: to.address })
  const scene = { family: { ...families.circle22, token }, payment, signer, to }
  const hash = await sendAfter(scene, () =>
    sendAs(chain.clients, {
      from: devAuthority,
      calls: [
        {
          address: token,
          abi: devContracts.fiatTokenV2_2.abi,
          functionName: 'updateName',
          args: ['USDC'],
        },
      ],
    }),
  )
  expect(await reverted(scene, hash)).toEqual([
    'wrongDomain',
    'FiatTokenV2: invalid signature',
  ])
})

const tooEarly = 'FiatTokenV2: authorization is not yet valid'

test.each([
  ['usdc', tooEarly],
  ['circle22', tooEarly],
  ['circle21', tooEarly],
  ['circle20', tooEarly],
  ['paxos', 'AuthorizationInvalid()'],
  ['openZeppelin', 'ERC3009InvalidAuthorizationTime()'],
] as const)('%s: sent before its window', async (name, words) => {
  const window = { validAfter: 5_000_000_000n, validBefore: 6_000_000_000n }
  const scene = await setScene(name, window)
  const hash = await sendAfter(scene)
  expect(await reverted(scene, hash)).toEqual(['notYetValid', words])
})

test('a token without the function has no words', async () => {
  const primaryType = 'ReceiveWithAuthorization'
  const scene = await setScene('circle20', { primaryType })
  const hash = await sendAfter(scene)
  expect(await reverted(scene, hash)).toEqual(['unsupportedToken', undefined])
})

test('a gas limit that was too low is named', async () => {
  const scene = await setScene('circle22')
  const { payment, to: account } = scene
  const options = { payment, account, gas: 60_000n, simulate: false }
  const hash = await capturePayment(reader, options)
  expect(await reverted(scene, hash)).toEqual(['gasTooHigh', undefined])
})

test.each(['usdc', 'circle22', 'paxos', 'openZeppelin'] as const)(
  '%s: a capture sent after the window is an expired payment',
  async (name) => {
    const scene = await setScene(name)
    const { payment } = scene
    const hash = await sendAfter(scene, () => chain.warp(1000))
    expect(await waitForOutcome(reader, { payment, hash })).toEqual({
      status: 'expired',
    })
  },
)

test.each(['usdc', 'circle22', 'circle20', 'openZeppelin', 'paxos'] as const)(
  '%s: a capture that came second learns of the first',
  async (name) => {
    const primaryType = 'TransferWithAuthorization'
    const { payment, ...scene } = await setScene(name, { primaryType })
    let first: Hash | undefined
    const hash = await sendAfter({ payment, ...scene }, async () => {
      first = await mined(chain, capturePayment(relayer, { payment }))
    })
    expect(await waitForOutcome(reader, { payment, hash })).toMatchObject({
      status: 'captured',
      proof: {
        transactionHash: first,
        submitter: relayer.account.address.toLowerCase(),
      },
    })
  },
)

test('Paxos’ success without a transfer is not a capture', async () => {
  const scene = await setScene('paxos')
  const { payment, signer } = scene
  const { domain, message } = payment
  let spent: Hash | undefined
  const hash = await sendAfter(scene, async () => {
    const other = await draft(chain, {
      signer,
      domain,
      nonce: message.nonce,
      amount: '0.01',
    })
    spent = await mined(chain, capturePayment(merchant, { payment: other }))
  })
  const receipt = await waitForTransactionReceipt(reader, { hash })
  expect(receipt.status).toBe('success')
  expect(await waitForOutcome(reader, { payment, hash })).toMatchObject({
    status: 'consumed',
    transactionHash: spent,
  })
})

test('Paxos’ success after a cancellation is a canceled payment', async () => {
  const scene = await setScene('paxos')
  const { payment, signer } = scene
  const hash = await sendAfter(scene, async () => {
    const cancellation = await revoke(chain, payment, signer)
    await mined(chain, cancelPayment(relayer, { cancellation }))
  })
  const outcome = await waitForOutcome(reader, { payment, hash })
  expect(outcome.status).toBe('canceled')
})
