import { toFunctionSelector } from 'viem'
import { expect, test } from 'vitest'
import { deployDevToken } from '../../../src/devchain/deployDevToken.js'
import { devContracts } from '../../../src/devchain/devContracts.js'
import { devAuthority } from '../../../src/devchain/initializeToken.js'
import { sendAs } from '../../../src/devchain/sendAs.js'
import {
  abi,
  chain,
  client,
  read,
  separatorOf,
  usdc,
} from '../support/tokenContracts.js'

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
