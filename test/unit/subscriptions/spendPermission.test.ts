import {
  type BuildSpendPermissionParameters,
  buildSpendPermission,
  hashSpendPermission,
  periodAt,
  type SpendPermission,
  signSpendPermission,
  spendPermissionTypedData,
} from 'countersign/subscriptions'
import { createWalletClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import {
  approveCall,
  markOf,
  spendCall,
} from '../../../src/subscriptions/permission/spendCalls.js'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const spender = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'
const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

const build = (
  fields: Partial<BuildSpendPermissionParameters> = {},
): SpendPermission =>
  buildSpendPermission({
    chainId: 8453,
    account: account.address,
    spender,
    token,
    allowance: '9.99',
    period: 100n,
    periods: 3,
    start: 1000n,
    salt: 7n,
    ...fields,
  })

const wanted = {
  chainId: 8453,
  spender,
  token,
  allowance: '9.99',
  period: 100n,
} as const

test('a permission has the members that the manager names', () => {
  expect(build()).toEqual({
    primaryType: 'SpendPermission',
    domain: {
      name: 'Spend Permission Manager',
      version: '1',
      chainId: 8453,
      verifyingContract: '0xf85210b21cc50302f477ba56686d2019dc9b67ad',
    },
    message: {
      account: account.address.toLowerCase(),
      spender,
      token,
      allowance: 9_990_000n,
      period: 100n,
      start: 1000n,
      end: 1300n,
      salt: 7n,
      extraData: '0x',
    },
  })
})

test.each([
  ['a spender that is the account', { spender: account.address }, 'spender'],
  ['no period', { period: 0n }, 'permission.message.period'],
  ['an end with a count of periods', { end: 5n }, 'periods'],
  ['no periods', { periods: 0 }, 'periods'],
  ['an end before the start', { periods: undefined, end: 999n }, 'end'],
  ['a fractional period', { period: 1.5 as never }, 'period'],
  ['data that is not hex', { extraData: '0xzz' as never }, 'extraData'],
])('%s is refused by name', (_, fields, field) => {
  expect(() => build(fields as never)).toThrow(field)
})

test.each([
  [999n, undefined],
  [1000n, { number: 1n, start: 1000n, end: 1100n }],
  [1099n, { number: 1n, start: 1000n, end: 1100n }],
  [1100n, { number: 2n, start: 1100n, end: 1200n }],
  [1249n, { number: 3n, start: 1200n, end: 1250n }],
  [1250n, undefined],
])('the period at second %s', (time, period) => {
  const permission = build({ periods: undefined, end: 1250n })
  expect(periodAt(permission, time)).toEqual(period)
})

test('two permissions with the same terms have different salts', () => {
  const first = build({ salt: undefined })
  const second = build({ salt: undefined })
  expect(first.message.salt).not.toBe(second.message.salt)
})

test('the wallet signs the message that the page expects', async () => {
  const permission = build()
  const signed = await signSpendPermission(
    createWalletClient({ account, transport: custom({ request }) }),
    { permission, expect: wanted },
  )
  const typedData = spendPermissionTypedData(permission)
  expect(signed).toEqual({
    permission,
    signature: await account.signTypedData(typedData),
  })
  expect(hashSpendPermission(permission)).toMatch(/^0x[\da-f]{64}$/)
})

async function request(): Promise<never> {
  throw new Error('no request may be sent')
}

test.each([
  ['chainId', { chainId: 1 }],
  ['spender', { spender: token }],
  ['token', { token: spender }],
  ['allowance', { allowance: '10' }],
  ['period', { period: 101n }],
  ['end', { maxEnd: 1299n }],
  ['manager', { manager: spender }],
  ['extraData', { extraData: '0x01' }],
])(
  'the page refuses another %s without asking the wallet',
  async (field, change) => {
    const signing = signSpendPermission(
      { request },
      { permission: build(), expect: { ...wanted, ...change } as never },
    )
    await expect(signing).rejects.toMatchObject({
      name: 'UnexpectedSpendPermissionError',
      details: { field },
    })
  },
)

test('the page accepts a permission that ends at the latest time it allows', async () => {
  const provider = {
    request: async ({ method }: { method: string }) =>
      method === 'eth_chainId' ? '0x2105' : `0x${'12'.repeat(100)}`,
  }
  const permission = build()
  await expect(
    signSpendPermission(provider, {
      permission,
      expect: { ...wanted, maxEnd: permission.message.end },
    }),
  ).resolves.toMatchObject({ permission })
})

test('a provider gets the complete typed data', async () => {
  const asked: { method: string; params?: readonly unknown[] }[] = []
  const provider = {
    request: async (one: (typeof asked)[number]) => {
      asked.push(one)
      return one.method === 'eth_chainId' ? '0x2105' : `0x${'12'.repeat(100)}`
    },
  }
  await signSpendPermission(provider, { permission: build(), expect: wanted })
  const [, payload] = asked.at(-1)?.params ?? []
  expect(JSON.parse(String(payload))).toMatchObject({
    primaryType: 'SpendPermission',
    types: { EIP712Domain: [{ name: 'name' }, {}, {}, {}] },
    message: { allowance: '9990000', period: 100, salt: '7' },
  })
})

test('a user who declines is told from a wallet that fails', async () => {
  const decline = async () => {
    throw Object.assign(new Error('no'), { code: 4001 })
  }
  const signing = signSpendPermission(
    { request: decline },
    { permission: build(), expect: wanted },
  )
  await expect(signing).rejects.toMatchObject({ name: 'SigningDeclinedError' })
})

test('a charge carries its mark behind the arguments of spend', () => {
  const { to, data } = spendCall(build(), { value: 5n, chargeId: 'may' })
  expect(to).toBe('0xf85210b21cc50302f477ba56686d2019dc9b67ad')
  expect(data.endsWith(markOf('may').slice(2))).toBe(true)
  const other = spendCall(build(), { value: 5n, chargeId: 'june' })
  expect(other.data.slice(0, -64)).toBe(data.slice(0, -64))
})

test('approval passes the signature on as it is', () => {
  const signature = `0x${'12'.repeat(100)}` as const
  const { data } = approveCall({ permission: build(), signature })
  expect(data).toContain('12'.repeat(100))
})
