import { deployDevContract, startDevChain } from 'countersign/devchain'
import {
  getSpendPermission,
  type SpendPermissionVerdict,
  verifySpendPermission,
} from 'countersign/subscriptions'
import {
  type Address,
  createPublicClient,
  custom,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  http,
} from 'viem'
import { setCode, setStorageAt } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { rehearsePermission } from '../../../../src/subscriptions/permission/rehearsePermission.js'
import {
  approveCall,
  revokeCall,
  spendCall,
} from '../../../../src/subscriptions/permission/spendCalls.js'
import {
  createBaseAccount,
  manager,
  send,
  wrapSignature,
} from '../../support/baseAccount.js'
import { compileSolidity } from '../../support/compileSolidity.js'
import {
  chainTime,
  createSubscriber,
  type Subscriber,
  type SubscriberFields,
  signAs,
} from '../../support/permissionDesk.js'

const chain = await startDevChain({
  blockTime: 0,
  token: 'usdc',
  spendPermissions: true,
})
afterAll(() => chain.stop())
const { public: reader, merchant, relayer, test: controls } = chain.clients
const spender = merchant.account.address.toLowerCase() as Address

const subscribe = (fields?: SubscriberFields) =>
  createSubscriber(chain, spender, fields)

const judge = (
  { permission, signature, expect }: Subscriber,
  changes: Partial<Parameters<typeof verifySpendPermission>[1]> = {},
): Promise<SpendPermissionVerdict> =>
  verifySpendPermission(reader, { permission, signature, expect, ...changes })

const reasonOf = (verdict: SpendPermissionVerdict): string =>
  verdict.ok ? verdict.rehearsed : verdict.reason

test('a deployed wallet passes, approval and first charge rehearsed', async () => {
  const verdict = await judge(await subscribe())
  expect(verdict).toMatchObject({
    ok: true,
    rehearsed: 'charge',
    at: { via: 'override' },
  })
})

test('a wallet that is not deployed passes with a wrapped signature, and stays undeployed', async () => {
  const subscriber = await subscribe({ deployed: false })
  expect(reasonOf(await judge(subscriber))).toBe('charge')
  const { address } = subscriber.account
  expect(await reader.getCode({ address })).toBeUndefined()
})

test('once deployed, the wrapped signature still passes', async () => {
  const subscriber = await subscribe({ deployed: false })
  await subscriber.account.deploy()
  expect(reasonOf(await judge(subscriber))).toBe('charge')
})

test('before the first period only the approval is rehearsed', async () => {
  const start = (await chainTime(chain)) + 5000n
  const verdict = await judge(await subscribe({ start, funds: 0n }))
  expect(reasonOf(verdict)).toBe('approval')
})

test.each([
  ['spender', '0x00000000000000000000000000000000000000b2', 'wrongSpender'],
  ['token', '0x00000000000000000000000000000000000000b2', 'wrongToken'],
  ['account', '0x00000000000000000000000000000000000000b2', 'wrongAccount'],
  ['manager', '0x00000000000000000000000000000000000000b2', 'wrongManager'],
  ['allowance', '9.99', 'wrongAllowance'],
  ['period', 999n, 'wrongPeriod'],
  ['start', 1n, 'wrongStart'],
  ['salt', 1n, 'wrongSalt'],
  ['minEnd', 2n ** 47n, 'endsTooSoon'],
  ['chainId', 1, 'wrongChain'],
])('another %s than expected is refused', async (field, value, reason) => {
  const subscriber = await subscribe()
  const expected = { ...subscriber.expect, [field]: value }
  expect(reasonOf(await judge(subscriber, { expect: expected }))).toBe(reason)
})

test('approving a revoked permission succeeds and returns false: the verdict is revoked', async () => {
  const subscriber = await subscribe()
  const { to, data } = revokeCall(subscriber.permission)
  await send(chain, { account: merchant.account, to, data })
  const verdict = await judge(subscriber)
  expect(reasonOf(verdict)).toBe('revoked')
})

test('a signature of another key is refused', async () => {
  const subscriber = await subscribe()
  const other = await createBaseAccount(chain)
  const signature = await signAs(other, subscriber.permission)
  expect(reasonOf(await judge(subscriber, { signature }))).toBe('wrongSigner')
})

test('a wallet with unknown code is refused, even if it stores a known implementation', async () => {
  const subscriber = await subscribe()
  const { address } = subscriber.account
  await setCode(controls, { address, bytecode: '0x600160005260206000f3' })
  const verdict = await judge(subscriber)
  expect(verdict).toMatchObject({ ok: false, reason: 'unknownWallet' })
})

test('a wallet upgraded to other code is refused', async () => {
  const subscriber = await subscribe()
  const { address } = subscriber.account
  await setStorageAt(controls, {
    address,
    index: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
    value: `0x${'b2'.padStart(64, '0')}`,
  })
  expect(reasonOf(await judge(subscriber))).toBe('unknownWallet')
})

test('a signature that calls any other contract than a listed factory is refused', async () => {
  const subscriber = await subscribe({ deployed: false })
  const factory: Address = '0x00000000000000000000000000000000000000b2'
  expect(reasonOf(await judge(subscriber, { factories: [factory] }))).toBe(
    'unknownFactory',
  )
})

test('a listed factory called with other data than a creation is refused', async () => {
  const subscriber = await subscribe({ deployed: false })
  const signature = wrapSignature({
    factory: '0xba5ed110efdba3d005bfc882d75358acbbb85842',
    data: '0x12345678',
    signature: `0x${'11'.repeat(65)}`,
  })
  expect(reasonOf(await judge(subscriber, { signature }))).toBe(
    'walletNotDeployed',
  )
})

const { Latch } = compileSolidity(`
/// An owner of a wallet that accepts anything once it was opened.
contract Latch {
    bool public isOpen;
    function open() external { isOpen = true; }
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        return isOpen ? bytes4(0x1626ba7e) : bytes4(0);
    }
}`)

/**
 * A deployed, listed wallet with a contract among its owners. The signature
 * names the wallet's own creation, and inside it a call to that contract.
 */
async function wrapTwice() {
  if (!Latch) throw new Error('not compiled')
  const latch = await deployDevContract(chain, { contract: Latch })
  const subscriber = await subscribe({ owners: [manager, latch] })
  const other = await createBaseAccount(chain)
  const { factory, factoryData } = await other.wallet.getFactoryArgs()
  if (!factory || !factoryData) throw new Error('The wallet is deployed.')
  const ownerIndex = 2n
  const inner = wrapSignature({
    factory: latch,
    data: encodeFunctionData({ abi: Latch.abi, functionName: 'open' }),
    signature: encodeAbiParameters(
      [
        {
          type: 'tuple',
          components: [{ type: 'uint256' }, { type: 'bytes' }],
        },
      ],
      [[ownerIndex, '0x']],
    ),
  })
  const outer = { factory, data: factoryData, signature: inner }
  return { ...subscriber, signature: wrapSignature(outer) }
}

test('a signature wrapped twice is malformed, because the inner wrapper could call any contract', async () => {
  const subscriber = await wrapTwice()
  expect(await judge(subscriber)).toEqual({
    ok: false,
    reason: 'malformedSignature',
    details: {},
  })
})

test('a signature wrapped twice that is on record since before is not approved', async () => {
  const { permission, signature } = await wrapTwice()
  const { answers } = await rehearsePermission(reader, {
    permission,
    signature,
    value: 1n,
    block: 'latest',
    maxGas: 300_000n,
  })
  expect(answers.steps[0]).toMatchObject({ ok: false })
})

test('on a chain without the verifier, only a deployed wallet passes', async () => {
  const [undeployed, deployed] = [
    await subscribe({ deployed: false }),
    await subscribe(),
  ]
  const address: Address = '0x0000bc370e4dc924f427d84e2f4b9ec81626ba7e'
  const bytecode = await reader.getCode({ address })
  if (!bytecode) throw new Error('The chain has no verifier.')
  await setCode(controls, { address, bytecode: '0x' })
  const verdicts = [await judge(undeployed), await judge(deployed)]
  await setCode(controls, { address, bytecode })
  expect(verdicts.map(reasonOf)).toEqual(['verifierNotDeployed', 'charge'])
})

test('a wrong signature of a wallet that is not deployed is not blamed on the verifier', async () => {
  const subscriber = await subscribe({ deployed: false })
  const { permission } = subscriber
  const other = { ...permission.message, salt: permission.message.salt + 1n }
  const changed = { ...permission, message: other }
  expect(reasonOf(await judge({ ...subscriber, permission: changed }))).toBe(
    'wrongSigner',
  )
})

test('a creation of another wallet is refused', async () => {
  const subscriber = await subscribe({ deployed: false })
  const other = await createBaseAccount(chain)
  const signature = await signAs(other, subscriber.permission)
  expect(reasonOf(await judge(subscriber, { signature }))).toBe('wrongAccount')
})

test('a wallet that the manager does not own is refused', async () => {
  const start = (await chainTime(chain)) + 5000n
  const subscriber = await subscribe({ owners: [], start })
  expect(reasonOf(await judge(subscriber))).toBe('managerNotOwner')
})

test('a wallet without the funds is refused, unless the first charge is smaller', async () => {
  const subscriber = await subscribe({ funds: 5_000_000n })
  expect(reasonOf(await judge(subscriber))).toBe('insufficientFunds')
  const smaller = { ...subscriber.expect, amount: '4.5' }
  expect(reasonOf(await judge(subscriber, { expect: smaller }))).toBe('charge')
})

test('an allowance that is used up in this period is refused', async () => {
  const subscriber = await subscribe()
  const approval = approveCall(subscriber)
  await send(chain, { account: relayer.account, ...approval })
  const charge = spendCall(subscriber.permission, {
    value: 1n,
    chargeId: 'first',
  })
  await send(chain, { account: merchant.account, ...charge })
  expect(reasonOf(await judge(subscriber))).toBe('allowanceUsed')
  const { permission } = subscriber
  expect(await getSpendPermission(reader, { permission })).toMatchObject({
    approved: true,
    revoked: false,
    period: { number: 1n, spent: 1n, left: 9_999_999n },
  })
})

test('a permission whose end has passed is refused', async () => {
  const subscriber = await subscribe({ periods: 1 })
  await chain.warp(1000)
  expect(reasonOf(await judge(subscriber))).toBe('expired')
  const { permission } = subscriber
  const state = await getSpendPermission(reader, { permission })
  expect(state.period).toBeUndefined()
})

test('a chain without the manager is refused', async () => {
  const plain = await startDevChain({ blockTime: 0, token: 'usdc' })
  const subscriber = await subscribe()
  const verdict = await verifySpendPermission(plain.clients.public, {
    permission: subscriber.permission,
    signature: subscriber.signature,
    expect: subscriber.expect,
  })
  await plain.stop()
  expect(reasonOf(verdict)).toBe('unsupportedManager')
})

/** A node that takes no state overrides. */
function plainClient() {
  const node = http(chain.urls.http)({ chain: chain.chain })
  return createPublicClient({
    chain: chain.chain,
    transport: custom({
      request: ({ method, params }) =>
        method === 'eth_call' && params.length > 2
          ? Promise.reject(
              Object.assign(new Error('too many arguments'), { code: -32602 }),
            )
          : node.request({ method, params }),
    }),
  })
}

test('a node without state overrides rehearses the approval alone', async () => {
  const { permission, signature, expect: terms } = await subscribe()
  const verdict = await verifySpendPermission(plainClient(), {
    permission,
    signature,
    expect: terms,
  })
  expect(verdict).toMatchObject({
    ok: true,
    rehearsed: 'approval',
    at: { via: 'calls' },
  })
})

test.each([
  ['managerNotOwner', { owners: [] }],
  ['insufficientFunds', { funds: 1n }],
])(
  'without state overrides the verdict %s is found too',
  async (reason, fields) => {
    const { permission, signature, expect: terms } = await subscribe(fields)
    const verdict = await verifySpendPermission(plainClient(), {
      permission,
      signature,
      expect: terms,
    })
    expect(reasonOf(verdict)).toBe(reason)
  },
)

test('a charge that needs more gas than allowed is refused', async () => {
  const subscriber = await subscribe()
  for (const maxChargeGas of [30_000n, 60_000n, 90_000n])
    expect(reasonOf(await judge(subscriber, { maxChargeGas }))).toBe(
      'gasTooHigh',
    )
})

test('while the token is paused or blocks the wallet, the verdict says so', async () => {
  const subscriber = await subscribe()
  await chain.pause()
  expect(reasonOf(await judge(subscriber))).toBe('paused')
  await chain.pause(false)
  const account = subscriber.account.address
  await chain.block({ account })
  expect(reasonOf(await judge(subscriber))).toBe('blocked')
})

test('no verdict and no error shows the signature', async () => {
  const subscriber = await subscribe()
  const bad: Hex = `0x${'ab'.repeat(600)}`
  const verdict = await judge(subscriber, { signature: bad })
  expect(verdict.ok).toBe(false)
  const text = JSON.stringify(verdict, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(text).not.toContain('abababababab')
  const swapped = { ...subscriber.permission, signature: bad }
  const failure = await verifySpendPermission(reader, {
    permission: swapped,
    signature: bad,
    expect: subscriber.expect,
  }).catch((error) => error)
  expect(failure.name).toBe('InvalidFieldError')
  expect(String(failure.message)).not.toContain('abababababab')
})
