import { type Abi, type Hex, keccak256, maxUint256 } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { deployDevContract } from '../../../src/devchain/deployDevContract.js'
import { deployDevToken } from '../../../src/devchain/deployDevToken.js'
import { devContracts } from '../../../src/devchain/devContracts.js'
import {
  abi,
  cancel,
  capture,
  chain,
  delegate,
  invalid,
  payment,
  read,
  receive,
  send,
  sign,
  split,
  tokenAt,
  transfer,
} from '../support/tokenContracts.js'

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
