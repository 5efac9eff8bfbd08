import { captureCall } from 'countersign'
import { createCaptureKey, getCaptureKey } from 'countersign/batches'
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { getBalance, getCode, readContract } from 'viem/actions'
import { beforeAll, expect, test } from 'vitest'
import { chain, openAccount, payTo, reader } from '../support/batchDesk.js'
import {
  balanceOf,
  decodeContext,
  encodeContext,
  manager,
  openTreasury,
  type PlainDelegation,
  redeem,
  signDelegation,
  tryCall,
} from '../support/captureKeyDesk.js'

/** What a thief has who stole the key. */
type Loot = Awaited<ReturnType<typeof openTreasury>> & {
  context: Hex
  thief: Address
}

let loot: Loot

beforeAll(async () => {
  const opened = await openTreasury()
  await chain.mint({ to: opened.treasury.address, value: 5_000_000n })
  const { address: thief } = await openAccount()
  loot = { ...opened, context: opened.permission, thief }
})

const tokenAbi = parseAbi([
  'function increaseAllowance(address spender, uint256 value)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

const items = parseAbiParameters('(address,uint256,bytes)[]')
const batchMode: Hex = `0x01${'0'.repeat(62)}`
const tryMode: Hex = `0x0001${'0'.repeat(60)}`

const transferTo = (thief: Address): Hex =>
  encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [thief, 5_000_000n],
  })

const attacks: Readonly<
  Record<string, (loot: Loot) => Parameters<typeof redeem>[1]>
> = {
  'a transfer of the tokens': ({ thief }) => ({
    to: chain.token,
    data: transferTo(thief),
  }),
  'an approval': ({ thief }) => ({
    to: chain.token,
    data: encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: [thief, 5_000_000n],
    }),
  }),
  'another method of the token': ({ thief }) => ({
    to: chain.token,
    data: encodeFunctionData({
      abi: tokenAbi,
      functionName: 'increaseAllowance',
      args: [thief, 5_000_000n],
    }),
  }),
  'no method at all': () => ({ to: chain.token }),
  'native value': ({ thief }) => ({ to: thief, value: 1n }),
  'native value for the token': () => ({ to: chain.token, value: 1n }),
  'the treasury as the target': ({ treasury, thief }) => ({
    to: treasury.address,
    data: `0xe9ae5c53${encodeAbiParameters(
      parseAbiParameters('bytes32, bytes'),
      [
        batchMode,
        encodeAbiParameters(items, [[[chain.token, 0n, transferTo(thief)]]]),
      ],
    ).slice(2)}`,
  }),
  'the manager as the target': () => ({ to: manager, data: '0x8456cb59' }),
}

test.each(Object.entries(attacks))(
  'a stolen key cannot do this: %s',
  async (_name, attack) => {
    const { context, key, treasury } = loot
    const { status } = await tryCall(key, redeem(context, attack(loot)))
    expect(status).toBe('reverted')
    await expectUntouched(treasury.address)
  },
)

// Otherwise these calls could fail for another reason than the limits.
test.each([
  'a transfer of the tokens',
  'an approval',
  'another method of the token',
  'native value',
])('a delegation without limits allows it: %s', async (name) => {
  const { treasury, key } = await openTreasury()
  await chain.mint({ to: treasury.address, value: 5_000_000n })
  const context = await signFor(31337, treasury, key.address, [])
  const call = attacks[name]?.(loot)
  if (!call) throw new Error(`no attack ${name}`)
  const { status } = await tryCall(key, redeem(context, call))
  expect(status).toBe('success')
})

test.each([
  ['many calls at once', batchMode],
  ['a call that may fail', tryMode],
])('a stolen key cannot do this: %s', async (_name, mode) => {
  const { context, key, treasury, thief } = loot
  const { payment } = await payTo(treasury.address)
  const { to, data } = captureCall({ payment })
  const one = redeem(context, { to, data, mode })
  expect((await tryCall(key, one)).status).toBe('reverted')
  const calls = encodeAbiParameters(items, [
    [
      [to, 0n, data],
      [to, 0n, transferTo(thief)],
    ],
  ])
  const { data: whole } = redeem(context, { to, data: calls, mode })
  expect((await tryCall(key, { to: manager, data: whole })).status).toBe(
    'reverted',
  )
  await expectUntouched(treasury.address)
})

test('a payment to another token, or captured already, is not paid', async () => {
  const { context, key, treasury } = loot
  const { payment } = await payTo(treasury.address)
  const { to, data } = captureCall({ payment })
  const other = await openAccount()
  expect(
    (await tryCall(key, redeem(context, { to: other.address, data }))).status,
  ).toBe('reverted')
  expect((await tryCall(key, redeem(context, { to, data }))).status).toBe(
    'success',
  )
  expect((await tryCall(key, redeem(context, { to, data }))).status).toBe(
    'reverted',
  )
})

test('a stranger cannot use the permission', async () => {
  const { context, treasury } = loot
  const { payment } = await payTo(treasury.address)
  const stranger = await openAccount()
  const { status } = await tryCall(
    stranger,
    redeem(context, captureCall({ payment })),
  )
  expect(status).toBe('reverted')
})

test('what a key passes on cannot do more than the key', async () => {
  const { context, key, thief, treasury } = loot
  const [parent] = decodeContext(context)
  if (!parent) throw new Error('no delegation')
  const bare = { ...parent, caveats: [] }
  const { status } = await tryCall(
    key,
    redeem(encodeContext([bare]), {
      to: chain.token,
      data: transferTo(thief),
    }),
  )
  expect(status).toBe('reverted')
  await expectUntouched(treasury.address)
})

const curveOrder =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const forged: Readonly<
  Record<string, (real: PlainDelegation) => PlainDelegation>
> = {
  'no limits': (real) => ({ ...real, caveats: [] }),
  'one limit less': (real) => ({ ...real, caveats: real.caveats.slice(1) }),
  'a limit more': (real) => ({
    ...real,
    caveats: [...real.caveats, ...real.caveats.slice(0, 1)],
  }),
  'limits in another order': (real) => ({
    ...real,
    caveats: [...real.caveats].reverse(),
  }),
  'arguments for a limit': (real) => ({
    ...real,
    caveats: real.caveats.map((one) => ({ ...one, args: '0x01' as const })),
  }),
  'another function': (real) => ({
    ...real,
    caveats: real.caveats.map((one, at) =>
      at === 1 ? { ...one, terms: '0xa9059cbb88b7ab63' as const } : one,
    ),
  }),
  'another enforcer': (real) => ({
    ...real,
    caveats: real.caveats.map((one, at) =>
      at === 0 ? { ...one, enforcer: chain.token } : one,
    ),
  }),
  'a key that stands for everybody': (real) => ({
    ...real,
    delegate: '0x0000000000000000000000000000000000000a11',
  }),
  'the treasury as its own key': (real) => ({
    ...real,
    delegate: real.delegator,
  }),
  'another parent': (real) => ({ ...real, authority: `0x${'1'.repeat(64)}` }),
  'a signature of 64 bytes': (real) => ({
    ...real,
    signature: real.signature.slice(0, 130) as Hex,
  }),
  'a signature with another v': (real) => ({
    ...real,
    signature:
      `${real.signature.slice(0, -2)}${real.signature.endsWith('1b') ? '00' : '01'}` as Hex,
  }),
  'a signature with a high s': (real) => {
    const s = curveOrder - BigInt(`0x${real.signature.slice(66, 130)}`)
    const v = real.signature.endsWith('1b') ? '1c' : '1b'
    const high = s.toString(16).padStart(64, '0')
    return {
      ...real,
      signature: `${real.signature.slice(0, 66)}${high}${v}` as Hex,
    }
  },
  'another key': (real) => ({ ...real, delegate: chain.token }),
  'another treasury': (real) => ({ ...real, delegator: chain.token }),
  'another salt': (real) => ({ ...real, salt: real.salt + 1n }),
}

test.each(Object.entries(forged))(
  'a permission with %s is refused, and not shown',
  async (_name, change) => {
    const [real] = decodeContext(loot.permission)
    if (!real) throw new Error('no delegation')
    const permission = encodeContext([change(real)])
    const error = await getCaptureKey(reader, { permission }).catch(String)
    expect(error).toMatch(/^InvalidFieldError: permission must be a permission/)
    expect(error).not.toContain(real.signature.slice(2, 40))
  },
)

test('a permission of two delegations, or cut, or with more bytes, is refused', async () => {
  const { permission } = loot
  const both = [...decodeContext(permission), ...decodeContext(permission)]
  const wrong = [
    encodeContext(both),
    encodeContext([]),
    permission.slice(0, -64) as Hex,
    `${permission}${'0'.repeat(64)}` as Hex,
    '0x' as const,
    permission.slice(2) as Hex,
    7 as never,
    undefined as never,
  ]
  for (const one of wrong)
    await expect(
      getCaptureKey(reader, { permission: one }),
    ).rejects.toMatchObject({ name: 'InvalidFieldError' })
  expect(await getCaptureKey(reader, { permission })).toMatchObject({
    status: 'active',
  })
})

test('a permission that was signed for another chain is refused here', async () => {
  const { treasury, key } = loot
  const elsewhere = await signFor(8453, treasury, key.address)
  await expect(
    getCaptureKey(reader, { permission: elsewhere }),
  ).rejects.toMatchObject({
    name: 'InvalidFieldError',
    message: expect.stringContaining('signed for chain 31337'),
  })
})

const wrongParameters: readonly [string, object][] = [
  ['key', { key: '0x0000000000000000000000000000000000000a11' }],
  ['key', { key: '0x0000000000000000000000000000000000000000' }],
  ['key', { key: 'me' }],
  ['tokens', { tokens: [] }],
  ['tokens', { tokens: 'all' }],
  ['tokens[0]', { tokens: ['usdc'] }],
  ['validBefore', { validBefore: 1n }],
  ['validBefore', { validBefore: 4_000_000_000 }],
  ['validBefore', { validBefore: 2n ** 128n }],
]

test.each(wrongParameters)(
  'createCaptureKey refuses another %s: %o',
  async (field, wrong) => {
    const { wallet, key } = loot
    const given = { key: key.address, tokens: [chain.token], ...wrong }
    await expect(createCaptureKey(wallet, given)).rejects.toMatchObject({
      name: 'InvalidFieldError',
      details: { field },
    })
  },
)

test('createCaptureKey signs nothing for a treasury that is not delegated', async () => {
  const account = await openAccount()
  let signed = 0
  const watched = {
    ...account,
    signTypedData: () => {
      signed++
      return Promise.reject(new Error('asked'))
    },
  }
  const { key, wallet } = loot
  const given = { key: key.address, tokens: [chain.token], account: watched }
  await expect(createCaptureKey(wallet, given)).rejects.toMatchObject({
    name: 'CaptureKeyError',
    reason: 'undelegated',
  })
  expect(signed).toBe(0)
})

async function signFor(
  chainId: number,
  treasury: Loot['treasury'],
  key: Address,
  limits?: [],
): Promise<Hex> {
  const [real] = decodeContext(loot.permission)
  if (!real) throw new Error('no delegation')
  const { authority, salt } = real
  const delegator = treasury.address
  const caveats = limits ?? real.caveats
  const message = { delegate: key, delegator, authority, caveats, salt }
  const signature = await signDelegation(treasury, message, chainId)
  return encodeContext([{ ...message, signature }])
}

/** The treasury has all that it had: tokens, native currency and its code. */
async function expectUntouched(treasury: Address): Promise<void> {
  expect(await balanceOf(treasury)).toBeGreaterThanOrEqual(5_000_000n)
  expect(await getBalance(reader, { address: treasury })).toBe(10n ** 18n)
  expect(await getCode(reader, { address: treasury })).toMatch(/^0xef0100/)
  const args: readonly [Address, Address] = [treasury, loot.thief]
  expect(
    await readContract(reader, {
      address: chain.token,
      abi: erc20Abi,
      functionName: 'allowance',
      args,
    }),
  ).toBe(0n)
}
