import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  concatHex,
  encodeAbiParameters,
  type Hex,
  hashDomain,
  hexToBigInt,
  keccak256,
  maxUint256,
  numberToHex,
  pad,
  parseEventLogs,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  slice,
  toFunctionSelector,
  zeroAddress,
} from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import {
  getBlock,
  readContract,
  setCode,
  setNextBlockTimestamp,
  simulateContract,
  verifyTypedData,
  writeContractSync,
} from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { typedDataTypes } from '../../../src/core/typedDataTypes.js'
import type { TokenDomain } from '../../../src/core/types.js'
import { deployDevContract } from '../../../src/devchain/deployDevContract.js'
import { deployDevToken } from '../../../src/devchain/deployDevToken.js'
import { devContracts } from '../../../src/devchain/devContracts.js'
import { devAuthority } from '../../../src/devchain/initializeToken.js'
import { sendAs } from '../../../src/devchain/sendAs.js'
import { startDevChain } from '../../../src/devchain/startDevChain.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: client, merchant, relayer, test: node } = chain.clients
const abi: Abi = devContracts.fiatTokenV2_2.abi
const usdc = await tokenAt(chain.token)

const invalid = 'FiatTokenV2: invalid signature'
const spent = 'FiatTokenV2: authorization is used or canceled'
const notPayee = 'FiatTokenV2: caller must be the payee'
const blocked = 'Blacklistable: account is blacklisted'
const forms = ['v, r, s', 'bytes'] as const
type Form = (typeof forms)[number]

type Token = { address: Address; abi: Abi; domain: TokenDomain }
type Typed = { primaryType: keyof typeof typedDataTypes; message: object }
type Wallet = typeof merchant

async function tokenAt(address: Address, version = '2', of = abi) {
  const name = await readContract(client, {
    address,
    abi,
    functionName: 'name',
  })
  const domain = {
    name: String(name),
    version,
    chainId: 31337,
    verifyingContract: address,
  }
  return { address, abi: of, domain } satisfies Token
}

async function freshPayer(value = 10_000_000n): Promise<PrivateKeyAccount> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await chain.mint({ to: payer.address, value })
  return payer
}

function payment(
  from: Address,
  changes: Partial<ReturnType<typeof base>> = {},
) {
  return { ...base(from), ...changes }
}

function base(from: Address) {
  return {
    from,
    to: merchant.account.address as Address,
    value: 1_000_000n,
    validAfter: 0n,
    validBefore: maxUint256,
    nonce: keccak256(generatePrivateKey()),
  }
}

function sign(
  signer: PrivateKeyAccount,
  { primaryType, message }: Typed,
  domain: object = usdc.domain,
): Promise<Hex> {
  const typed = { domain, types: typedDataTypes, primaryType, message }
  return signer.signTypedData(
    typed as Parameters<typeof signer.signTypedData>[0],
  )
}

function split(signature: Hex): [number, Hex, Hex] {
  return [
    Number(slice(signature, 64, 65)),
    slice(signature, 0, 32),
    slice(signature, 32, 64),
  ]
}

function signatureArgs(signature: Hex, form: Form): unknown[] {
  return form === 'bytes' ? [signature] : split(signature)
}

type Send = {
  token?: Token
  by?: Wallet
  at?: bigint
  functionName: string
  args: readonly unknown[]
}

/** Mines the call; tells how it ended: 'success', the reason or error name. */
async function send({ token = usdc, by = merchant, at, ...call }: Send) {
  if (at !== undefined) await setNextBlockTimestamp(node, { timestamp: at })
  const request = { address: token.address, abi: token.abi, ...call }
  const receipt = await writeContractSync(by, {
    ...request,
    gas: 500_000n,
    throwOnReceiptRevert: false,
  })
  if (receipt.status === 'success') return { result: 'success', receipt }
  const { timestamp: time } = await getBlock(client)
  const result = await simulateContract(client, {
    ...request,
    account: by.account,
    blockOverrides: { time },
  }).then(() => 'agreed in a simulation', revertReason)
  return { result, receipt }
}

function revertReason(error: unknown): string {
  const revert =
    error instanceof BaseError
      ? error.walk((it) => it instanceof ContractFunctionRevertedError)
      : undefined
  if (!(revert instanceof ContractFunctionRevertedError)) return String(error)
  // viem puts words of its own where a revert carries no data.
  if (revert.raw === undefined || revert.raw === '0x') return 'no reason'
  return revert.reason ?? revert.data?.errorName ?? revert.raw
}

type Capture = {
  functionName?: 'receiveWithAuthorization' | 'transferWithAuthorization'
  message: ReturnType<typeof base>
  signature: Hex
  form?: Form
} & Pick<Send, 'token' | 'by' | 'at'>

function capture({
  functionName = 'receiveWithAuthorization',
  message: { from, to, value, validAfter, validBefore, nonce },
  signature,
  form = 'bytes',
  ...rest
}: Capture) {
  const args = [from, to, value, validAfter, validBefore, nonce]
  args.push(...(signatureArgs(signature, form) as Hex[]))
  return send({ functionName, args, ...rest })
}

const receive = (message: object) =>
  ({ primaryType: 'ReceiveWithAuthorization', message }) as const
const transfer = (message: object) =>
  ({ primaryType: 'TransferWithAuthorization', message }) as const
const cancelation = (authorizer: Address, nonce: Hex) =>
  ({
    primaryType: 'CancelAuthorization',
    message: { authorizer, nonce },
  }) as const

async function cancel(
  signer: PrivateKeyAccount,
  nonce: Hex,
  {
    form = 'bytes',
    token = usdc,
    authorizer = signer.address,
  }: {
    form?: Form
    token?: Token
    authorizer?: Address
  } = {},
) {
  const typed = cancelation(authorizer, nonce)
  const signature = await sign(signer, typed, token.domain)
  const args = [authorizer, nonce, ...signatureArgs(signature, form)]
  return send({ token, by: relayer, functionName: 'cancelAuthorization', args })
}

/** A fresh payer's payment, signed to be received by the merchant. */
async function signed(
  changes: Partial<ReturnType<typeof base>> = {},
  funds?: bigint,
) {
  const payer = await freshPayer(funds)
  const message = payment(payer.address, changes)
  const signature = await sign(payer, receive(message))
  return { payer, message, signature }
}

async function read(
  functionName: string,
  args: readonly unknown[] = [],
  token: Token = usdc,
) {
  const { address } = token
  return readContract(client, {
    address,
    abi: token.abi,
    functionName,
    args,
  }).catch(revertReason)
}

function separatorOf({ chainId, ...domain }: TokenDomain): Hex {
  return hashDomain({
    domain: { ...domain, chainId: BigInt(chainId) },
    types: typedDataTypes,
  })
}

const now = async () => (await getBlock(client)).timestamp

test.each([
  ['0xe3ee160e', 'transferWithAuthorization', 9],
  ['0xcf092995', 'transferWithAuthorization', 7],
  ['0xef55bec6', 'receiveWithAuthorization', 9],
  ['0x88b7ab63', 'receiveWithAuthorization', 7],
  ['0x5a049a70', 'cancelAuthorization', 5],
  ['0xb7b72899', 'cancelAuthorization', 3],
  ['0xe94a0102', 'authorizationState', 2],
  ['0xd505accf', 'permit', 7],
  ['0x9fd5a6cf', 'permit', 5],
  ['0x54fd4d50', 'version', 0],
  ['0x3644e515', 'DOMAIN_SEPARATOR', 0],
  ['0xfe575a87', 'isBlacklisted', 1],
  ['0x5c975abb', 'paused', 0],
])('%s selects %s with %d arguments', (selector, name, count) => {
  const item = abi.find(
    (it) =>
      it.type === 'function' && it.name === name && it.inputs.length === count,
  )
  expect(item?.type === 'function' && toFunctionSelector(item)).toBe(selector)
})

test.each([
  [
    'TRANSFER_WITH_AUTHORIZATION_TYPEHASH',
    '0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267',
  ],
  [
    'RECEIVE_WITH_AUTHORIZATION_TYPEHASH',
    '0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8',
  ],
  [
    'CANCEL_AUTHORIZATION_TYPEHASH',
    '0x158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a1597429',
  ],
  [
    'PERMIT_TYPEHASH',
    '0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9',
  ],
  ['name', 'USD Coin'],
  ['version', '2'],
  ['decimals', 6],
  ['paused', false],
])('%s() is %s', async (functionName, value) => {
  expect(await read(functionName)).toBe(value)
})

test.each([
  [
    1,
    'USD Coin',
    '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    '0x06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335',
  ],
  [
    8453,
    'USD Coin',
    '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f',
  ],
  [
    84532,
    'USDC',
    '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
    '0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818',
  ],
  [
    42161,
    'USD Coin',
    '0xaf88d065e77c8cc2239327c5edb3a432268e5831',
    '0x08d11903f8419e68b1b8721bcbe2e9fc68569122a77ef18c216f10b3b5112c78',
  ],
  [
    137,
    'USD Coin',
    '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359',
    '0xcaa2ce1a5703ccbe253a34eb3166df60a705c561b44b192061e28f2a985be2ca',
  ],
  [
    10,
    'USD Coin',
    '0x0b2c639c533813f4aa9d7837caf62653d097ff85',
    '0x26d9c34bb1a1c312f69c53b2d93b8be20faafba63af2438c6811713c9b1f933f',
  ],
  [
    43114,
    'USD Coin',
    '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e',
    '0xbbea200329a938bc3438984a49cb0732e66d66d7bd59c127abacc1710e77f7b3',
  ],
] as const)(
  'chain %d: %s at %s has the separator %s',
  (chainId, name, verifyingContract, separator) => {
    const domain = { name, version: '2', chainId, verifyingContract }
    expect(separatorOf(domain)).toBe(separator)
  },
)

test('the separator on chain is the one viem computes, and ERC-5267 is absent', async () => {
  const { domain } = usdc
  expect(await read('DOMAIN_SEPARATOR')).toBe(separatorOf(domain))
  const eip712Domain = client.call({ to: chain.token, data: '0x84b0196e' })
  await expect(eip712Domain).rejects.toThrow()
})

test.each([
  [devContracts.fiatTokenV2_0, false],
  [devContracts.fiatTokenV2_1, false],
  [devContracts.fiatTokenV2_2, true],
])(
  'a renamed token changes its separator from version 2.2 on',
  async (contract, changes) => {
    const address = await deployDevToken(chain, { contract })
    const before = await read('DOMAIN_SEPARATOR', [], { ...usdc, address })
    const call = { address, abi, functionName: 'updateName', args: ['Coin'] }
    await sendAs(chain.clients, { from: devAuthority, calls: [call] })
    const after = await read('DOMAIN_SEPARATOR', [], { ...usdc, address })
    expect(after !== before).toBe(changes)
  },
)

for (const form of forms) {
  test(`a Transfer signature cannot be received (${form})`, async () => {
    const { payer, message } = await signed()
    const signature = await sign(payer, transfer(message))
    expect((await capture({ message, signature, form })).result).toBe(invalid)
  })

  test(`anyone can submit a Transfer signature (${form})`, async () => {
    const { payer, message } = await signed()
    const signature = await sign(payer, transfer(message))
    const functionName = 'transferWithAuthorization'
    const { result } = await capture({
      functionName,
      message,
      signature,
      form,
      by: relayer,
    })
    expect(result).toBe('success')
  })

  test(`a Receive signature cannot be transferred (${form})`, async () => {
    const { message, signature } = await signed()
    const functionName = 'transferWithAuthorization'
    const { result } = await capture({ functionName, message, signature, form })
    expect(result).toBe(invalid)
  })

  test(`the payee receives: AuthorizationUsed, then Transfer (${form})`, async () => {
    const { payer, message, signature } = await signed()
    const { result, receipt } = await capture({ message, signature, form })
    expect(result).toBe('success')
    expect(receipt.logs.map(({ topics, data }) => [topics, data])).toEqual([
      [
        [
          '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
          pad(payer.address.toLowerCase() as Hex),
          message.nonce,
        ],
        '0x',
      ],
      [
        [
          '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
          pad(payer.address.toLowerCase() as Hex),
          pad(message.to.toLowerCase() as Hex),
        ],
        numberToHex(message.value, { size: 32 }),
      ],
    ])
  })

  test(`nobody but the payee receives (${form})`, async () => {
    const { message, signature } = await signed()
    const { result } = await capture({ message, signature, form, by: relayer })
    expect(result).toBe(notPayee)
  })

  test(`anyone can relay a cancellation (${form})`, async () => {
    const { payer, message } = await signed()
    const { result, receipt } = await cancel(payer, message.nonce, { form })
    expect(result).toBe('success')
    expect(receipt.logs.map(({ topics, data }) => [topics, data])).toEqual([
      [
        [
          '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
          pad(payer.address.toLowerCase() as Hex),
          message.nonce,
        ],
        '0x',
      ],
    ])
    expect(
      await read('authorizationState', [payer.address, message.nonce]),
    ).toBe(true)
  })

  test(`v of 0 or 1 is refused (${form})`, async () => {
    const { message, signature } = await signed()
    const v = numberToHex(split(signature)[0] - 27, { size: 1 })
    const changed = concatHex([slice(signature, 0, 64), v])
    const { result } = await capture({ message, signature: changed, form })
    expect(result).toBe("ECRecover: invalid signature 'v' value")
  })

  test(`a high s is refused (${form})`, async () => {
    const { message, signature } = await signed()
    const { result } = await capture({
      message,
      signature: highS(signature),
      form,
    })
    expect(result).toBe("ECRecover: invalid signature 's' value")
  })

  test(`zero r and s recover nobody (${form})`, async () => {
    const { message } = await signed()
    const signature = concatHex([pad('0x', { size: 64 }), '0x1b'])
    const { result } = await capture({ message, signature, form })
    expect(result).toBe('ECRecover: invalid signature')
  })

  test(`a contract wallet answers for its owner's signature (${form})`, async () => {
    const { owner, message } = await walletPayment()
    const signature = await sign(owner, receive(message))
    expect((await capture({ message, signature, form })).result).toBe('success')
  })

  test(`a contract wallet refuses a stranger's signature (${form})`, async () => {
    const { message } = await walletPayment()
    const signature = await sign(await freshPayer(), receive(message))
    expect((await capture({ message, signature, form })).result).toBe(invalid)
  })

  test(`a contract wallet can cancel (${form})`, async () => {
    const { owner, message } = await walletPayment()
    const { result } = await cancel(owner, message.nonce, {
      form,
      authorizer: message.from,
    })
    expect(result).toBe('success')
  })

  test(`a delegate that refuses hides the key of its account (${form})`, async () => {
    const { payer, message, signature } = await signed()
    await delegate(payer, devContracts.strictDelegate)
    const believed = await verifyTypedData(client, {
      address: payer.address,
      domain: usdc.domain,
      types: typedDataTypes,
      ...receive(message),
      signature,
    } as unknown as Parameters<typeof verifyTypedData>[1])
    expect(believed).toBe(true)
    expect((await capture({ message, signature, form })).result).toBe(invalid)
  })

  test(`a delegate that agrees lets the key pay (${form})`, async () => {
    const { payer, message, signature } = await signed()
    await delegate(payer, devContracts.permissiveDelegate)
    expect((await capture({ message, signature, form })).result).toBe('success')
  })
}

function highS(signature: Hex): Hex {
  const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const [v, r, s] = split(signature)
  const twin = numberToHex(n - hexToBigInt(s), { size: 32 })
  return concatHex([r, twin, numberToHex(v === 27 ? 28 : 27, { size: 1 })])
}

async function walletPayment(
  contract: { abi: Abi; bytecode: Hex } = devContracts.strictWallet,
) {
  const owner = privateKeyToAccount(generatePrivateKey())
  const args = contract === devContracts.permissiveWallet ? [] : [owner.address]
  const wallet = await deployDevContract(chain, { contract, args })
  await chain.mint({ to: wallet, value: 10_000_000n })
  return { owner, message: payment(wallet) }
}

async function delegate(
  account: PrivateKeyAccount,
  contract: { abi: Abi; bytecode: Hex },
) {
  const contractAddress = await deployDevContract(chain, { contract })
  const authorization = await account.signAuthorization({
    contractAddress,
    chainId: 31337,
    nonce: 0,
  })
  const authorizationList = [authorization]
  const to = account.address
  await relayer.sendTransaction({ to, authorizationList, gas: 200_000n })
}

test('a spent nonce can be neither captured nor canceled again', async () => {
  const { payer, message, signature } = await signed()
  await capture({ message, signature })
  expect((await capture({ message, signature })).result).toBe(spent)
  expect((await cancel(payer, message.nonce)).result).toBe(spent)
})

test('a canceled nonce can be neither captured nor canceled again', async () => {
  const { payer, message, signature } = await signed()
  await cancel(payer, message.nonce)
  expect((await capture({ message, signature })).result).toBe(spent)
  expect((await cancel(payer, message.nonce)).result).toBe(spent)
})

test('a nonce that was never signed for can be canceled', async () => {
  const nonce = keccak256(generatePrivateKey())
  expect((await cancel(await freshPayer(), nonce)).result).toBe('success')
})

test('a payment can be canceled after it expired', async () => {
  const { payer, message } = await signed({ validBefore: 1n })
  expect((await cancel(payer, message.nonce)).result).toBe('success')
})

test('a blocked payer can cancel', async () => {
  const { payer, message } = await signed()
  await chain.block({ account: payer.address })
  expect((await cancel(payer, message.nonce)).result).toBe('success')
})

test("another account's signature cancels nothing", async () => {
  const { payer, message } = await signed()
  const authorizer = payer.address
  const { result } = await cancel(await freshPayer(), message.nonce, {
    authorizer,
  })
  expect(result).toBe(invalid)
})

test.each([
  [99n, 'FiatTokenV2: authorization is not yet valid'],
  [100n, 'FiatTokenV2: authorization is not yet valid'],
  [101n, 'success'],
  [199n, 'success'],
  [200n, 'FiatTokenV2: authorization is expired'],
])('in a window from 100 to 200, second %d: %s', async (second, expected) => {
  const start = (await now()) + 1000n
  const { message, signature } = await signed({
    validAfter: start + 100n,
    validBefore: start + 200n,
  })
  const { result } = await capture({ message, signature, at: start + second })
  expect(result).toBe(expected)
})

test('a value above the balance is refused', async () => {
  const { message, signature } = await signed({ value: 3n }, 2n)
  const { result } = await capture({ message, signature })
  expect(result).toBe('ERC20: transfer amount exceeds balance')
})

test('of two payments that together exceed the balance the second fails', async () => {
  const { payer, message, signature } = await signed({ value: 3n }, 5n)
  const second = payment(payer.address, { value: 3n })
  const secondSignature = await sign(payer, receive(second))
  expect((await capture({ message, signature })).result).toBe('success')
  const { result } = await capture({
    message: second,
    signature: secondSignature,
  })
  expect(result).toBe('ERC20: transfer amount exceeds balance')
})

test('a value of zero succeeds and spends the nonce', async () => {
  const { payer, message, signature } = await signed({ value: 0n })
  expect((await capture({ message, signature })).result).toBe('success')
  expect(await read('authorizationState', [payer.address, message.nonce])).toBe(
    true,
  )
})

test.each([
  ['the zero address', zeroAddress, 'ERC20: transfer to the zero address'],
  ['the token', chain.token, blocked],
  ['the payer', 'payer', 'success'],
] as const)('a transfer to %s: %s', async (_, to, expected) => {
  const payer = await freshPayer()
  const message = payment(payer.address, {
    to: to === 'payer' ? payer.address : to,
  })
  const signature = await sign(payer, transfer(message))
  const functionName = 'transferWithAuthorization'
  expect((await capture({ functionName, message, signature })).result).toBe(
    expected,
  )
})

test('a blocked payer cannot pay', async () => {
  const { payer, message, signature } = await signed()
  await chain.block({ account: payer.address })
  expect((await capture({ message, signature })).result).toBe(blocked)
})

test('a blocked recipient cannot receive', async () => {
  const { message, signature } = await signed()
  await chain.block({ account: message.to })
  const { result } = await capture({ message, signature })
  await chain.block({ account: message.to, blocked: false })
  expect(result).toBe(blocked)
})

test('a blocked relayer can submit', async () => {
  const payer = await freshPayer()
  const message = payment(payer.address)
  const signature = await sign(payer, transfer(message))
  await chain.block({ account: relayer.account.address })
  const functionName = 'transferWithAuthorization'
  const { result } = await capture({
    functionName,
    message,
    signature,
    by: relayer,
  })
  await chain.block({ account: relayer.account.address, blocked: false })
  expect(result).toBe('success')
})

test('a paused token neither captures nor cancels, but tells the state', async () => {
  const { payer, message, signature } = await signed()
  await chain.pause()
  const captured = await capture({ message, signature })
  const canceled = await cancel(payer, message.nonce)
  const state = await read('authorizationState', [payer.address, message.nonce])
  await chain.pause(false)
  expect([captured.result, canceled.result, state]).toEqual([
    'Pausable: paused',
    'Pausable: paused',
    false,
  ])
})

test('a tampered value is an invalid signature', async () => {
  const { message, signature } = await signed()
  const tampered = { ...message, value: message.value + 1n }
  expect((await capture({ message: tampered, signature })).result).toBe(invalid)
})

test.each([
  ['name', { name: 'USDC' }],
  ['version', { version: '1' }],
  ['chainId', { chainId: 8453 }],
  ['verifyingContract', { verifyingContract: zeroAddress }],
])('a signature for another %s is invalid', async (_, changes) => {
  const { payer, message } = await signed()
  const domain = { ...usdc.domain, ...changes }
  const signature = await sign(payer, receive(message), domain)
  expect((await capture({ message, signature })).result).toBe(invalid)
})

test("another account's signature is invalid", async () => {
  const { message } = await signed()
  const signature = await sign(await freshPayer(), receive(message))
  expect((await capture({ message, signature })).result).toBe(invalid)
})

test.each([
  [
    'EIP-2098',
    (it: Hex) =>
      serializeCompactSignature(
        signatureToCompactSignature(parseSignature(it)),
      ),
  ],
  ['empty', () => '0x' as const],
  ['ERC-6492', wrap6492],
] as const)(
  'an account without code cannot use the %s form',
  async (_, change) => {
    const { message, signature } = await signed()
    const { result } = await capture({ message, signature: change(signature) })
    expect(result).toBe('ECRecover: invalid signature length')
  },
)

function wrap6492(signature: Hex): Hex {
  const types = [
    { type: 'address' },
    { type: 'bytes' },
    { type: 'bytes' },
  ] as const
  const body = encodeAbiParameters(types, [zeroAddress, '0x', signature])
  return concatHex([
    body,
    '0x6492649264926492649264926492649264926492649264926492649264926492',
  ])
}

test('an ERC-6492 wrapper around a deployed wallet is invalid', async () => {
  const { owner, message } = await walletPayment()
  const signature = wrap6492(await sign(owner, receive(message)))
  expect((await capture({ message, signature })).result).toBe(invalid)
})

test('two payers can use the same nonce', async () => {
  const { message, signature } = await signed()
  const other = await signed({ nonce: message.nonce })
  expect((await capture({ message, signature })).result).toBe('success')
  expect((await capture(other)).result).toBe('success')
})

test('the permissive wallet takes anything', async () => {
  const { message } = await walletPayment(devContracts.permissiveWallet)
  expect((await capture({ message, signature: '0x' })).result).toBe('success')
})

const dirtyMagic = `0x7f1626ba7e${'00'.repeat(27)}0160005260206000f3` as const
test.each([
  ['reverts', '0x60006000fd'],
  ['gives one byte', '0x60016000f3'],
  ['gives nothing', '0x00'],
  ['gives more than the magic', dirtyMagic],
] as const)('a wallet that %s refuses', async (_, bytecode) => {
  const { address } = privateKeyToAccount(generatePrivateKey())
  await setCode(node, { address, bytecode })
  await chain.mint({ to: address, value: 10_000_000n })
  const message = payment(address)
  const signature = pad('0x1b', { size: 65 })
  expect((await capture({ message, signature })).result).toBe(invalid)
})

test('a lying wallet agrees in a simulation and burns the gas of a block', async () => {
  const { owner, message } = await walletPayment(devContracts.lyingWallet)
  const { from, to, value, validAfter, validBefore, nonce } = message
  const signature = await sign(owner, receive(message))
  const { result, receipt } = await capture({ message, signature })
  expect([result, receipt.status]).toEqual([
    'agreed in a simulation',
    'reverted',
  ])
  expect(receipt.gasUsed).toBeGreaterThan(490_000n)
  const args = [from, to, value, validAfter, validBefore, nonce, signature]
  const call = {
    address: chain.token,
    abi,
    functionName: 'receiveWithAuthorization',
    args,
  }
  await simulateContract(client, { ...call, account: merchant.account })
})

test('expired comes before used', async () => {
  const validBefore = (await now()) + 1000n
  const { message, signature } = await signed({ validBefore })
  await capture({ message, signature })
  const { result } = await capture({ message, signature, at: validBefore })
  expect(result).toBe('FiatTokenV2: authorization is expired')
})

test('used comes before an invalid signature, the caller before used', async () => {
  const { message, signature } = await signed()
  await capture({ message, signature })
  const bad = await sign(await freshPayer(), receive(message))
  expect((await capture({ message, signature: bad })).result).toBe(spent)
  expect((await capture({ message, signature, by: relayer })).result).toBe(
    notPayee,
  )
})

test('an invalid signature comes before the balance', async () => {
  const { message } = await signed({ value: 3n }, 2n)
  const signature = await sign(await freshPayer(), receive(message))
  expect((await capture({ message, signature })).result).toBe(invalid)
})

test('paused comes before blocked, blocked before the caller', async () => {
  const { payer, message, signature } = await signed()
  await chain.block({ account: payer.address })
  expect((await capture({ message, signature, by: relayer })).result).toBe(
    blocked,
  )
  await chain.pause()
  const { result } = await capture({ message, signature })
  await chain.pause(false)
  expect(result).toBe('Pausable: paused')
})

test('a simulation without a sender is not the payee', async () => {
  const { message, signature } = await signed()
  const { from, to, value, validAfter, validBefore, nonce } = message
  const args = [from, to, value, validAfter, validBefore, nonce, signature]
  expect(await read('receiveWithAuthorization', args)).toBe(notPayee)
})

test('no balance reaches 2^255', async () => {
  const mint = chain.mint({ to: merchant.account.address, value: 2n ** 255n })
  await expect(mint).rejects.toThrow(
    'FiatTokenV2_2: Balance exceeds (2^255 - 1)',
  )
})

test.each([
  ['v, r, s', 2n ** 255n, 'success'],
  ['bytes', maxUint256, 'success'],
  ['bytes', 1n, 'FiatTokenV2: permit is expired'],
] as const)(
  'permit (%s) with the deadline %d: %s',
  async (form, deadline, expected) => {
    const { payer, args } = await signedPermit(deadline, form)
    expect((await send({ functionName: 'permit', args })).result).toBe(expected)
    const allowance = await read('allowance', [
      payer.address,
      merchant.account.address,
    ])
    expect(allowance).toBe(expected === 'success' ? 5n : 0n)
  },
)

test('permit takes a signature once', async () => {
  const { args } = await signedPermit(maxUint256, 'bytes')
  await send({ functionName: 'permit', args })
  const { result } = await send({ functionName: 'permit', args })
  expect(result).toBe('EIP2612: invalid signature')
})

test.each([
  ['2.0', devContracts.fiatTokenV2_0, blocked],
  ['2.1', devContracts.fiatTokenV2_1, blocked],
  ['2.2', devContracts.fiatTokenV2_2, 'success'],
])(
  'a permit of a blocked payer in version %s',
  async (_, contract, expected) => {
    const address = await deployDevToken(chain, { contract })
    const token = await tokenAt(address)
    const { payer, args } = await signedPermit(maxUint256, 'v, r, s', token)
    const block = { functionName: 'blacklist', args: [payer.address] }
    const calls = [{ address, abi, ...block }]
    await sendAs(chain.clients, { from: devAuthority, calls })
    const { result } = await send({ token, functionName: 'permit', args })
    expect(result).toBe(expected)
  },
)

async function signedPermit(deadline: bigint, form: Form, token = usdc) {
  const payer = await freshPayer()
  const owner = payer.address
  const spender = merchant.account.address
  const uint256 = (name: string) => ({ name, type: 'uint256' })
  const address = (name: string) => ({ name, type: 'address' })
  const signature = await payer.signTypedData({
    domain: token.domain,
    types: {
      Permit: [
        address('owner'),
        address('spender'),
        uint256('value'),
        uint256('nonce'),
        uint256('deadline'),
      ],
    },
    primaryType: 'Permit',
    message: { owner, spender, value: 5n, nonce: 0n, deadline },
  })
  return {
    payer,
    args: [owner, spender, 5n, deadline, ...signatureArgs(signature, form)],
  }
}

test('version 2.1 takes the key of a delegated account', async () => {
  const { token, payer, message, signature } = await signedFor(
    devContracts.fiatTokenV2_1,
  )
  await delegate(payer, devContracts.strictDelegate)
  const { result } = await capture({
    token,
    message,
    signature,
    form: 'v, r, s',
  })
  expect(result).toBe('success')
  expect(
    await read('authorizationState', [payer.address, message.nonce], token),
  ).toBe(true)
})

test('version 2.1 knows no contract wallets and no bytes', async () => {
  const { token, payer } = await signedFor(devContracts.fiatTokenV2_1)
  const args = [payer.address]
  const wallet = await deployDevContract(chain, {
    contract: devContracts.strictWallet,
    args,
  })
  const message = payment(wallet)
  const signature = await sign(payer, receive(message), token.domain)
  const packed = await capture({ token, message, signature, form: 'v, r, s' })
  expect(packed.result).toBe(invalid)
  const bytes = { ...token, abi }
  expect((await capture({ token: bytes, message, signature })).result).toBe(
    'no reason',
  )
})

test('version 2.0 tells used from canceled', async () => {
  const { token, payer, message } = await signedFor(devContracts.fiatTokenV2_0)
  const state = (nonce: Hex) =>
    read('authorizationState', [payer.address, nonce], token)
  const signature = await sign(payer, transfer(message), token.domain)
  const functionName = 'transferWithAuthorization'
  expect(await state(message.nonce)).toBe(0)
  await capture({ token, functionName, message, signature, form: 'v, r, s' })
  expect(await state(message.nonce)).toBe(1)
  const nonce = keccak256(message.nonce)
  await cancel(payer, nonce, { token, form: 'v, r, s' })
  expect(await state(nonce)).toBe(2)
})

test('version 2.0 cannot receive and has no version()', async () => {
  const { token, message, signature } = await signedFor(
    devContracts.fiatTokenV2_0,
  )
  const newer = { ...token, abi }
  const { result } = await capture({
    token: newer,
    message,
    signature,
    form: 'v, r, s',
  })
  expect(result).toBe('no reason')
  expect(await read('version', [], newer)).toBe('no reason')
})

test.each([
  ['ApproveWithAuthorization', 'value', 5n],
  ['IncreaseAllowanceWithAuthorization', 'increment', 12n],
  ['DecreaseAllowanceWithAuthorization', 'decrement', 2n],
])('version 2.0 has %s', async (primaryType, amount, expected) => {
  const { token, payer, message } = await signedFor(devContracts.fiatTokenV2_0)
  const spender = message.to
  for (const [type, name, value] of [
    ['ApproveWithAuthorization', 'value', 7n],
    [primaryType, amount, 5n],
  ] as const) {
    const members = [
      'address owner',
      'address spender',
      `uint256 ${name}`,
      'uint256 validAfter',
      'uint256 validBefore',
      'bytes32 nonce',
    ]
    const fields = members.map((it) => ({
      type: it.split(' ')[0] ?? '',
      name: it.split(' ')[1] ?? '',
    }))
    const nonce = keccak256(generatePrivateKey())
    const window = { validAfter: 0n, validBefore: maxUint256, nonce }
    const signature = await payer.signTypedData({
      domain: token.domain,
      types: { [type]: fields },
      primaryType: type,
      message: { owner: payer.address, spender, [name]: value, ...window },
    })
    const functionName = type.charAt(0).toLowerCase() + type.slice(1)
    const args = [
      payer.address,
      spender,
      value,
      0n,
      maxUint256,
      nonce,
      ...split(signature),
    ]
    expect((await send({ token, functionName, args })).result).toBe('success')
  }
  expect(await read('allowance', [payer.address, spender], token)).toBe(
    expected,
  )
})

async function signedFor(contract: { abi: Abi; bytecode: Hex }) {
  const address = await deployDevToken(chain, { contract })
  const token = await tokenAt(address, '2', contract.abi)
  const payer = privateKeyToAccount(generatePrivateKey())
  await chain.mint({ token: address, to: payer.address, value: 10_000_000n })
  const message = payment(payer.address)
  const signature = await sign(payer, receive(message), token.domain)
  return { token, payer, message, signature }
}

test('a token can have 18 decimals', async () => {
  const address = await deployDevToken(chain, { decimals: 18, name: 'Wide' })
  expect(await read('decimals', [], { ...usdc, address })).toBe(18)
  expect(await read('name', [], { ...usdc, address })).toBe('Wide')
})

async function ownToken(
  contract: { abi: Abi; bytecode: Hex },
  args: readonly unknown[],
) {
  const address = await deployDevContract(chain, { contract, args })
  const token = await tokenAt(address, '1', contract.abi)
  const payer = privateKeyToAccount(generatePrivateKey())
  const mint = [payer.address, 10_000_000n]
  await send({ token, by: relayer, functionName: 'mint', args: mint })
  const message = payment(payer.address)
  const signature = await sign(payer, receive(message), token.domain)
  return { token, payer, message, signature }
}

const paxos = () =>
  ownToken(devContracts.paxosToken, ['PayPal USD', 'PYUSD', 6])
const oz = () => ownToken(devContracts.ozToken, ['Open Coin', 'OPEN'])

for (const form of forms)
  test(`a Paxos token is received once, and says so without a revert (${form})`, async () => {
    const { token, payer, message, signature } = await paxos()
    expect((await capture({ token, message, signature, form })).result).toBe(
      'success',
    )
    const again = await capture({ token, message, signature, form })
    expect(again.result).toBe('success')
    const logs = parseEventLogs({ abi: token.abi, logs: again.receipt.logs })
    const eventName = 'AuthorizationAlreadyUsed'
    const args = { authorizer: payer.address, nonce: message.nonce }
    expect(logs).toMatchObject([{ eventName, args }])
    expect(await read('balanceOf', [payer.address], token)).toBe(9_000_000n)
  })

test('a Paxos token cancels a spent nonce in name only', async () => {
  const { token, payer, message, signature } = await paxos()
  await capture({ token, message, signature })
  const { result, receipt } = await cancel(payer, message.nonce, { token })
  const logs = parseEventLogs({ abi: token.abi, logs: receipt.logs })
  expect(result).toBe('success')
  expect(logs).toMatchObject([{ eventName: 'AuthorizationAlreadyUsed' }])
})

test('a Paxos token cancels an unused nonce', async () => {
  const { token, payer, message } = await paxos()
  const { receipt } = await cancel(payer, message.nonce, {
    token,
    form: 'v, r, s',
  })
  const logs = parseEventLogs({ abi: token.abi, logs: receipt.logs })
  expect(logs).toMatchObject([{ eventName: 'AuthorizationCanceled' }])
})

test.each([
  ['CallerMustBePayee', { by: relayer }, {}],
  ['AuthorizationInvalid', {}, { validAfter: maxUint256 - 1n }],
  ['AuthorizationExpired', {}, { validBefore: 1n }],
  ['InvalidSignature', { signature: '0x' }, {}],
  ['InsufficientFunds', {}, { value: 10_000_001n }],
] as const)(
  'a Paxos token reverts with %s',
  async (expected, submission, changes) => {
    const { token, payer, message: original } = await paxos()
    const message = { ...original, ...changes }
    const signature = await sign(payer, receive(message), token.domain)
    const { result } = await capture({
      token,
      message,
      signature,
      ...submission,
    })
    expect(result).toBe(expected)
  },
)

test('a Paxos token refuses the zero address', async () => {
  const { token, payer, message: original } = await paxos()
  const message = { ...original, to: zeroAddress as Address }
  const signature = await sign(payer, transfer(message), token.domain)
  const functionName = 'transferWithAuthorization'
  const { result } = await capture({ token, functionName, message, signature })
  expect(result).toBe('ZeroAddress')
})

test('a frozen account of a Paxos token neither pays nor cancels', async () => {
  const { token, payer, message, signature } = await paxos()
  const args = [payer.address]
  await send({ token, by: relayer, functionName: 'freeze', args })
  expect((await capture({ token, message, signature })).result).toBe(
    'AddressFrozen',
  )
  expect((await cancel(payer, message.nonce, { token })).result).toBe(
    'AddressFrozen',
  )
  await send({ token, by: relayer, functionName: 'unfreeze', args })
  expect((await capture({ token, message, signature })).result).toBe('success')
})

test('a paused Paxos token neither captures nor cancels', async () => {
  const { token, payer, message, signature } = await paxos()
  await send({ token, by: relayer, functionName: 'pause', args: [] })
  expect((await capture({ token, message, signature })).result).toBe(
    'ContractPaused',
  )
  expect((await cancel(payer, message.nonce, { token })).result).toBe(
    'ContractPaused',
  )
})

test('a Paxos token takes the key of a delegated account, and a wallet', async () => {
  const { token, payer, message, signature } = await paxos()
  await delegate(payer, devContracts.strictDelegate)
  expect((await capture({ token, message, signature })).result).toBe('success')
  const args = [payer.address]
  const wallet = await deployDevContract(chain, {
    contract: devContracts.strictWallet,
    args,
  })
  const fromWallet = payment(wallet, { value: 0n })
  const ofOwner = await sign(payer, receive(fromWallet), token.domain)
  const paid = await capture({ token, message: fromWallet, signature: ofOwner })
  expect(paid.result).toBe('success')
})

test('a Paxos token has a separator but no version()', async () => {
  const { token } = await paxos()
  const separator = separatorOf(token.domain)
  expect(await read('DOMAIN_SEPARATOR', [], token)).toBe(separator)
  expect(await read('version', [], { ...token, abi })).toBe('no reason')
})

test.each([
  ['success', {}, {}],
  ['ERC20InvalidReceiver', { by: relayer }, {}],
  ['ERC3009InvalidAuthorizationTime', {}, { validBefore: 1n }],
  ['ERC20InsufficientBalance', {}, { value: 10_000_001n }],
] as const)(
  "OpenZeppelin's token: %s",
  async (expected, submission, changes) => {
    const { token, payer, message: original } = await oz()
    const message = { ...original, ...changes }
    const signature = await sign(payer, receive(message), token.domain)
    const { result } = await capture({
      token,
      message,
      signature,
      form: 'v, r, s',
      ...submission,
    })
    expect(result).toBe(expected)
  },
)

test("OpenZeppelin's token checks the signature first", async () => {
  const { token, message, signature } = await oz()
  const form = 'v, r, s'
  const changed = { ...message, value: 2n, validBefore: 1n }
  const submit = (it: Hex, sent = message) =>
    capture({ token, message: sent, signature: it, form, by: relayer })
  expect((await submit(signature, changed)).result).toBe(
    'ERC3009InvalidSignature',
  )
  expect((await submit(highS(signature))).result).toBe('ECDSAInvalidSignatureS')
  expect((await submit(pad('0x', { size: 65 }))).result).toBe(
    'ECDSAInvalidSignature',
  )
})

test("OpenZeppelin's token takes a nonce once", async () => {
  const { token, message, signature } = await oz()
  await capture({ token, message, signature, form: 'v, r, s' })
  const { result } = await capture({
    token,
    message,
    signature,
    form: 'v, r, s',
  })
  expect(result).toBe('ERC3009UsedAuthorization')
})
