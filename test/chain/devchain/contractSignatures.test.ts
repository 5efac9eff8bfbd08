import {
  type Abi,
  concatHex,
  encodeAbiParameters,
  type Hex,
  numberToHex,
  pad,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  slice,
  zeroAddress,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { setCode, simulateContract, verifyTypedData } from 'viem/actions'
import { expect, test } from 'vitest'
import { typedDataTypes } from '../../../src/core/typedDataTypes.js'
import { deployDevContract } from '../../../src/devchain/deployDevContract.js'
import { devContracts } from '../../../src/devchain/devContracts.js'
import {
  abi,
  cancel,
  capture,
  chain,
  client,
  delegate,
  forms,
  freshPayer,
  highS,
  invalid,
  merchant,
  node,
  notPayee,
  payment,
  read,
  receive,
  relayer,
  sign,
  signed,
  split,
  transfer,
  usdc,
} from '../support/tokenContracts.js'

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

async function walletPayment(
  contract: { abi: Abi; bytecode: Hex } = devContracts.strictWallet,
) {
  const owner = privateKeyToAccount(generatePrivateKey())
  const args = contract === devContracts.permissiveWallet ? [] : [owner.address]
  const wallet = await deployDevContract(chain, { contract, args })
  await chain.mint({ to: wallet, value: 10_000_000n })
  return { owner, message: payment(wallet) }
}

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
