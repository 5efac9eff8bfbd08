import {
  delegateSubmitter,
  getDelegation,
  undelegateSubmitter,
} from 'countersign/batches'
import { type Address, concatHex, type Hex, keccak256 } from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
  toAccount,
} from 'viem/accounts'
import {
  getBalance,
  getCode,
  getTransaction,
  getTransactionCount,
  setCode,
} from 'viem/actions'
import { expect, test } from 'vitest'
import {
  caliburDelegate,
  metamaskDelegate,
} from '../../../src/core/knownDelegates.js'
import {
  chain,
  failure,
  node,
  openAccount,
  reader,
  relayer,
  walletOf,
} from '../support/batchDesk.js'

const codeOf = async (address: Address): Promise<Hex> =>
  (await getCode(reader, { address })) ?? '0x'

const countOf = (address: Address): Promise<number> =>
  getTransactionCount(reader, { address })

const names = ['metamask', 'calibur'] as const
const known = { metamask: metamaskDelegate, calibur: caliburDelegate }

test('a plain account is not delegated, and a contract is a contract', async () => {
  const { address: account } = await openAccount()
  expect(await getDelegation(reader, { account })).toEqual({ status: 'none' })
  expect(await getDelegation(reader, { account: chain.token })).toEqual({
    status: 'contract',
  })
})

test.each(names)(
  '%s: an account delegates itself once, and ends it',
  async (delegate) => {
    const account = await openAccount()
    const wallet = walletOf(account)
    const { address } = known[delegate]

    const first = await delegateSubmitter(wallet, { delegate })
    expect(first.delegation).toMatchObject({ status: 'known', name: delegate })
    expect(first.transactionHash).toMatch(/^0x[\da-f]{64}$/)
    expect(await codeOf(account.address)).toBe(concatHex(['0xef0100', address]))
    expect(await countOf(account.address)).toBe(2)

    const again = await delegateSubmitter(wallet, { delegate })
    expect(again).toEqual({ ...first, transactionHash: undefined })
    expect(await countOf(account.address)).toBe(2)

    const ended = await undelegateSubmitter(wallet)
    expect(ended.delegation).toEqual({ status: 'none' })
    expect(await codeOf(account.address)).toBe('0x')
    expect(await undelegateSubmitter(wallet)).toEqual({
      delegation: { status: 'none' },
      transactionHash: undefined,
    })
    expect(await countOf(account.address)).toBe(4)
  },
)

test("MetaMask's delegate is shown with its version, code and manager", async () => {
  const account = await openAccount()
  const { delegation } = await delegateSubmitter(walletOf(account))
  const { address } = metamaskDelegate
  expect(delegation).toEqual({
    status: 'known',
    name: 'metamask',
    version: '1.3.0',
    address,
    codeHash: keccak256(await codeOf(address)),
    manager: {
      address: '0xdb9b1e94b5b69df7e401ddbede43491141047db3',
      owner: '0xb0403b32f54d0bd752113f4009e8b534c6669f44',
      paused: false,
    },
  })
})

test.each([
  ['local', relayer.account],
  ['JSON-RPC', relayer.account.address],
] as const)('another account sends and pays: %s', async (_, sponsor) => {
  const account = privateKeyToAccount(generatePrivateKey())
  const wallet = walletOf(account)
  const before = await countOf(relayer.account.address)
  const { delegation } = await delegateSubmitter(wallet, { sponsor })
  expect(delegation.status).toBe('known')
  expect(await countOf(account.address)).toBe(1)
  await undelegateSubmitter(wallet, { sponsor })
  expect(await codeOf(account.address)).toBe('0x')
  // One to delegate, one to end what the account signed, one to end it.
  expect(await countOf(relayer.account.address)).toBe(before + 3)
  expect(await getBalance(reader, { address: account.address })).toBe(0n)
})

test('an authorization names this chain, the delegate and the next account nonce', async () => {
  const account = await openAccount()
  const asked: object[] = []
  const watched = watchSigning(account, asked)
  const { transactionHash } = await delegateSubmitter(walletOf(watched))
  await undelegateSubmitter(walletOf(watched), { sponsor: relayer.account })
  const { address } = metamaskDelegate
  expect(asked).toEqual([
    { address, chainId: 31337, nonce: 1 },
    { address: `0x${'0'.repeat(40)}`, chainId: 31337, nonce: 2 },
  ])
  const hash = transactionHash ?? '0x'
  const { authorizationList, to } = await getTransaction(reader, { hash })
  expect(authorizationList).toHaveLength(1)
  expect(authorizationList?.[0]).toMatchObject({ chainId: 31337, nonce: 1 })
  expect(to).toBe(account.address.toLowerCase())
})

test("viem's nonce manager goes on behind the authorization", async () => {
  const { createNonceManager, jsonRpc } = await import('viem/nonce')
  const key = generatePrivateKey()
  const nonceManager = createNonceManager({ source: jsonRpc() })
  const account = privateKeyToAccount(key, { nonceManager })
  await node.setBalance({ address: account.address, value: 10n ** 18n })
  await delegateSubmitter(walletOf(account))
  await undelegateSubmitter(walletOf(account))
  await delegateSubmitter(walletOf(account))
  expect(await countOf(account.address)).toBe(6)
})

test('an account that is delegated to another is left alone', async () => {
  const account = await openAccount()
  const wallet = walletOf(account)
  await delegateSubmitter(wallet, { delegate: 'calibur' })
  const error = await failure(
    delegateSubmitter(wallet, { delegate: 'metamask' }),
  )
  expect(error).toMatchObject({
    name: 'DelegationError',
    reason: 'otherDelegate',
    retryable: false,
    details: { delegate: caliburDelegate.address },
  })
  expect(await countOf(account.address)).toBe(2)
})

test('code of nobody known is shown as it is, and can be ended', async () => {
  const account = await openAccount()
  const stranger: Address = '0x7702000000000000000000000000000000000009'
  await setCode(node, {
    address: account.address,
    bytecode: concatHex(['0xef0100', stranger]),
  })
  const asked = { account: account.address }
  expect(await getDelegation(reader, asked)).toEqual({
    status: 'unknown',
    address: stranger,
    codeHash: undefined,
  })
  await setCode(node, { address: stranger, bytecode: '0x00' })
  expect(await getDelegation(reader, asked)).toEqual({
    status: 'unknown',
    address: stranger,
    codeHash: keccak256('0x00'),
  })
  await undelegateSubmitter(walletOf(account), { sponsor: relayer.account })
  expect(await codeOf(account.address)).toBe('0x')
})

test('a delegate that you trust by its code is as good as a known one', async () => {
  const account = await openAccount()
  const bytecode = await codeOf(caliburDelegate.address)
  const address: Address = '0x7702000000000000000000000000000000000010'
  await setCode(node, { address, bytecode })
  const delegate = { address, codeHash: keccak256(bytecode) }
  const { delegation } = await delegateSubmitter(walletOf(account), {
    delegate,
  })
  expect(delegation).toMatchObject({ status: 'known', name: 'trusted' })
  const asked = { account: account.address }
  expect((await getDelegation(reader, asked)).status).toBe('unknown')
  expect(
    await getDelegation(reader, { ...asked, trusted: [delegate] }),
  ).toEqual(delegation)
})

test.each(names)(
  '%s: one other byte in its code, or none at all, is refused before anything is signed',
  async (delegate) => {
    const account = await openAccount()
    const asked: object[] = []
    const wallet = walletOf(watchSigning(account, asked))
    const { address } = known[delegate]
    const code = await codeOf(address)
    const last = code.endsWith('00') ? '01' : '00'
    for (const bytecode of [`${code.slice(0, -2)}${last}`, '0x'] as Hex[]) {
      await setCode(node, { address, bytecode })
      const error = await failure(delegateSubmitter(wallet, { delegate }))
      expect(error).toMatchObject({
        reason: 'unprovenCode',
        retryable: false,
        details: {
          delegate: address,
          codeHash: bytecode === '0x' ? undefined : keccak256(bytecode),
        },
      })
    }
    await setCode(node, { address, bytecode: code })
    expect(asked).toEqual([])
    expect(await countOf(account.address)).toBe(0)
  },
)

test('a manager with other code makes its delegate unknown', async () => {
  const account = await openAccount()
  await delegateSubmitter(walletOf(account))
  const { address } = metamaskDelegate.manager
  const code = await codeOf(address)
  await setCode(node, { address, bytecode: `${code}00` })
  const { status } = await getDelegation(reader, { account: account.address })
  await setCode(node, { address, bytecode: code })
  expect(status).toBe('unknown')
})

test('an account that cannot sign authorizations, and a contract, are refused', async () => {
  const { address } = relayer.account
  const cannot = await failure(delegateSubmitter(walletOf(address)))
  expect(cannot).toMatchObject({ reason: 'cannotSign', retryable: false })
  const plain = toAccount({
    address,
    signMessage: relayer.account.signMessage,
    signTransaction: relayer.account.signTransaction,
    signTypedData: relayer.account.signTypedData,
  })
  expect((await failure(delegateSubmitter(walletOf(plain)))).reason).toBe(
    'cannotSign',
  )
  const account = { ...relayer.account, address: chain.token }
  for (const change of [delegateSubmitter, undelegateSubmitter])
    expect((await failure(change(walletOf(account)))).reason).toBe('isContract')
})

/** The same account, which notes what it is asked to authorize. */
function watchSigning(
  account: PrivateKeyAccount,
  asked: object[],
): PrivateKeyAccount {
  return {
    ...account,
    signAuthorization: (request) => {
      asked.push(request)
      return account.signAuthorization(request)
    },
  }
}
