import {
  type Abi,
  type Address,
  type Hex,
  maxUint256,
  pad,
  parseEventLogs,
  zeroAddress,
} from 'viem'
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
  forms,
  highS,
  payment,
  read,
  receive,
  relayer,
  send,
  separatorOf,
  sign,
  tokenAt,
  transfer,
  usdc,
} from '../support/tokenContracts.js'

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
