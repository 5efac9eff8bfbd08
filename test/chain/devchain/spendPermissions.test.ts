import { startDevChain } from 'countersign/devchain'
import {
  buildSpendPermission,
  hashSpendPermission,
  spendPermissionTypedData,
} from 'countersign/subscriptions'
import {
  type Abi,
  type Address,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseSignature,
  serializeCompactSignature,
  serializeSignature,
  signatureToCompactSignature,
} from 'viem'
import {
  getCode,
  getTransactionCount,
  readContract,
  simulateContract,
} from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { spendPermissionManagerArtifact } from '../../../src/devchain/contracts/SpendPermissionManager.generated.js'
import { toStruct } from '../../../src/subscriptions/permission/spendPermissionTypedData.js'
import {
  type BaseAccount,
  createBaseAccount,
  manager,
  send,
  wrapSignature,
} from '../support/baseAccount.js'
import { abi as tokenAbi } from '../support/twinTokens.js'

const chain = await startDevChain({
  blockTime: 0,
  token: 'usdc',
  spendPermissions: true,
})
afterAll(() => chain.stop())
const { public: reader, merchant, relayer, payer } = chain.clients
const abi: Abi = spendPermissionManagerArtifact.abi
const spender = merchant.account.address

const now = async (): Promise<bigint> => (await reader.getBlock()).timestamp

async function subscribe({
  deployed = true,
  funds = 100_000_000n,
  ...fields
}: {
  deployed?: boolean
  funds?: bigint
  start?: bigint
  end?: bigint
  token?: Address
  spender?: Address
} = {}) {
  const account = await createBaseAccount(chain)
  if (deployed) await account.deploy()
  await chain.mint({ to: account.address, value: funds })
  const permission = buildSpendPermission({
    chainId: chain.chain.id,
    account: account.address,
    spender,
    token: chain.token,
    allowance: '10',
    period: 1000n,
    start: await now(),
    ...fields,
  })
  const struct = toStruct(permission.message)
  const signature = await account.wallet.signTypedData(
    spendPermissionTypedData(permission),
  )
  return { account, permission, struct, signature }
}

type Call = { functionName: string; args: readonly unknown[]; from?: Address }

const call = ({ functionName, args, from = relayer.account.address }: Call) =>
  simulateContract(reader, {
    address: manager,
    abi,
    functionName,
    args,
    account: from,
  }).then(({ result }) => result)

/** The name of the error that a call reverts with, or the token's own text. */
const refusal = (given: Call): Promise<unknown> =>
  call(given).then(
    () => 'no error',
    (error) => {
      const revert = error.walk(
        (cause: Error) => cause.name === 'ContractFunctionRevertedError',
      )
      return revert?.data?.errorName === 'Error' || !revert?.data
        ? revert?.reason
        : revert.data.errorName
    },
  )

const sendCall = (
  functionName: string,
  args: readonly unknown[],
  account = merchant.account,
) =>
  send(chain, {
    account,
    to: manager,
    data: encodeFunctionData({ abi, functionName, args }),
  })

const balance = (account: Address) =>
  readContract(reader, {
    address: chain.token,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [account],
  })

test('the stand-ins are at the addresses that Base publishes, and cost no account a nonce', async () => {
  const published: Address[] = [
    manager,
    '0xcfce48b757601f3f351cb6f434cb0517aeee293d',
    '0x0000bc370e4dc924f427d84e2f4b9ec81626ba7e',
    '0xba5ed110efdba3d005bfc882d75358acbbb85842',
    '0x00000110dcdedc9581cb5ecb8467282f2926534d',
  ]
  for (const address of published)
    expect(await getCode(reader, { address })).toBeDefined()
  const { address } = payer.account
  expect(await getTransactionCount(reader, { address })).toBe(0)
})

test('a chain has no stand-ins unless asked for', async () => {
  const plain = await startDevChain({ blockTime: 0 })
  const code = await getCode(plain.clients.public, { address: manager })
  await plain.stop()
  expect(code).toBeUndefined()
})

test("the manager's hash is the one the account signs", async () => {
  const { permission, struct } = await subscribe()
  expect(await call({ functionName: 'getHash', args: [struct] })).toBe(
    hashSpendPermission(permission),
  )
})

test('a wallet that viem deploys and signs for is charged within its allowance, once a period', async () => {
  const { account, struct, signature } = await subscribe()
  const before = await balance(spender)
  const approval = {
    functionName: 'approveWithSignature',
    args: [struct, signature],
  }
  expect(await call(approval)).toBe(true)
  await sendCall('approveWithSignature', [struct, signature])
  await sendCall('spend', [struct, 10_000_000n])
  expect(Number(await balance(spender)) - Number(before)).toBe(10_000_000)
  expect(await balance(account.address)).toBe(90_000_000n)
  const again = { functionName: 'spend', args: [struct, 1n], from: spender }
  expect(await refusal(again)).toBe('ExceededSpendPermission')
  await chain.warp(1000)
  expect(await refusal(again)).toBe('no error')
})

test('a wrapped signature deploys the wallet through the validator', async () => {
  const { account, struct, signature } = await subscribe({ deployed: false })
  expect(await getCode(reader, { address: account.address })).toBeUndefined()
  const receipt = await sendCall('approveWithSignature', [struct, signature])
  expect(receipt.status).toBe('success')
  const address = account.address
  expect(await getCode(reader, { address })).toBe(
    '0x363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3',
  )
  expect(await call({ functionName: 'isValid', args: [struct] })).toBe(true)
})

const curveOrder =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

function raiseS(signature: Hex): Hex {
  const { r, s, yParity } = parseSignature(signature)
  return serializeSignature({
    r,
    s: `0x${(curveOrder - BigInt(s)).toString(16)}`,
    yParity: 1 - yParity,
  })
}

const compact = (signature: Hex): Hex =>
  serializeCompactSignature(
    signatureToCompactSignature(parseSignature(signature)),
  )

const ownerSignature = [
  { type: 'tuple', components: [{ type: 'uint256' }, { type: 'bytes' }] },
] as const

test.each([
  ['a high s', raiseS],
  ['64 bytes', compact],
])(
  "an owner's signature with %s is accepted, as by the published wallet",
  async (_, change) => {
    const { struct, signature } = await subscribe()
    const [[index, own]] = decodeAbiParameters(ownerSignature, signature)
    const changed = encodeAbiParameters(ownerSignature, [[index, change(own)]])
    const args = [struct, changed]
    expect(await call({ functionName: 'approveWithSignature', args })).toBe(
      true,
    )
  },
)

test('a charge of a token without code reverts, as with the published manager', async () => {
  const token: Address = '0x00000000000000000000000000000000000000b2'
  const { struct, signature } = await subscribe({ token })
  await sendCall('approveWithSignature', [struct, signature])
  const spend = { functionName: 'spend', args: [struct, 1n], from: spender }
  expect(await refusal(spend)).toBe('SafeERC20FailedOperation')
})

test('approving a revoked permission succeeds, and returns false', async () => {
  const { struct, signature } = await subscribe()
  await sendCall('revokeAsSpender', [struct])
  const approval = {
    functionName: 'approveWithSignature',
    args: [struct, signature],
  }
  expect(await call(approval)).toBe(false)
  const receipt = await sendCall('approveWithSignature', [struct, signature])
  expect([receipt.status, receipt.logs]).toEqual(['success', []])
})

test('the manager refuses with the published errors', async () => {
  const { struct, signature, account } = await subscribe()
  const spend = (fields: object, value = 1n, from = spender) =>
    refusal({
      functionName: 'spend',
      args: [{ ...struct, ...fields }, value],
      from,
    })
  const approve = (fields: object) =>
    refusal({
      functionName: 'approve',
      args: [{ ...struct, ...fields }],
      from: account.address,
    })
  const zero: Address = '0x0000000000000000000000000000000000000000'
  expect(await spend({}, 1n, relayer.account.address)).toBe('InvalidSender')
  expect(await spend({}, 0n)).toBe('ZeroValue')
  expect(await spend({})).toBe('UnauthorizedSpendPermission')
  expect(await approve({ token: zero })).toBe('ZeroToken')
  expect(await approve({ spender: zero })).toBe('ZeroSpender')
  expect(await approve({ period: 0 })).toBe('ZeroPeriod')
  expect(await approve({ allowance: 0n })).toBe('ZeroAllowance')
  expect(await approve({ end: struct.start })).toBe('InvalidStartEnd')
  const approval = (one: Hex, fields = {}) =>
    refusal({
      functionName: 'approveWithSignature',
      args: [{ ...struct, ...fields }, one],
    })
  expect(await approval(signature, { salt: 1n })).toBe('InvalidSignature')
  const { factory, factoryData } = await (
    await createBaseAccount(chain)
  ).wallet.getFactoryArgs()
  if (!factory || !factoryData) throw new Error('The wallet is deployed.')
  const wrapped = wrapSignature({
    factory,
    data: factoryData,
    signature,
  })
  expect(await approval(wrapped)).toBe('no error')
  const revoke = { functionName: 'revoke', args: [struct] }
  expect(await refusal(revoke)).toBe('InvalidSender')
})

test('outside its time a permission is refused with the time', async () => {
  const time = await now()
  const early = await subscribe({ start: time + 10_000n })
  await sendCall('approveWithSignature', [early.struct, early.signature])
  const spend = {
    functionName: 'spend',
    args: [early.struct, 1n],
    from: spender,
  }
  expect(await refusal(spend)).toBe('BeforeSpendPermissionStart')
  const late = await subscribe({ start: time, end: time + 500n })
  await sendCall('approveWithSignature', [late.struct, late.signature])
  await chain.warp(600)
  expect(
    await refusal({ functionName: 'getCurrentPeriod', args: [late.struct] }),
  ).toBe('AfterSpendPermissionEnd')
})

test("a wallet without the funds refuses with the token's own text", async () => {
  const { struct, signature } = await subscribe({ funds: 5_000_000n })
  await sendCall('approveWithSignature', [struct, signature])
  expect(
    await refusal({
      functionName: 'spend',
      args: [struct, 10_000_000n],
      from: spender,
    }),
  ).toBe('ERC20: transfer amount exceeds balance')
})

test('a wallet that the manager does not own refuses', async () => {
  const account: BaseAccount = await createBaseAccount(chain, [])
  await account.deploy()
  const permission = buildSpendPermission({
    chainId: chain.chain.id,
    account: account.address,
    spender,
    token: chain.token,
    allowance: '10',
    period: 1000n,
    start: await now(),
  })
  const struct = toStruct(permission.message)
  const signature = await account.wallet.signTypedData(
    spendPermissionTypedData(permission),
  )
  await sendCall('approveWithSignature', [struct, signature])
  const spend = { functionName: 'spend', args: [struct, 1n], from: spender }
  // `Unauthorized()` is the wallet's error, which the manager's ABI lacks.
  expect(await refusal(spend)).toBeUndefined()
})
