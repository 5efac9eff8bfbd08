import { keccak256, zeroAddress } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { expect, test } from 'vitest'
import {
  blocked,
  cancel,
  capture,
  chain,
  freshPayer,
  invalid,
  now,
  payment,
  read,
  receive,
  relayer,
  sign,
  signed,
  spent,
  transfer,
} from '../support/tokenContracts.js'

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

test('two payers can use the same nonce', async () => {
  const { message, signature } = await signed()
  const other = await signed({ nonce: message.nonce })
  expect((await capture({ message, signature })).result).toBe('success')
  expect((await capture(other)).result).toBe('success')
})
