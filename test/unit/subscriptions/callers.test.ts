import * as subscriptions from 'countersign/subscriptions'
import { createClient, custom } from 'viem'
import { base } from 'viem/chains'
import { expect, test } from 'vitest'

const secret = 'ab'.repeat(300)
const account = '0x00000000000000000000000000000000000000a1'
const spender = '0x00000000000000000000000000000000000000b2'
const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

/** A node that fails and quotes the whole request. */
const quoting = createClient({
  chain: base,
  transport: custom(
    {
      request: async (asked: unknown) => {
        throw Object.assign(new Error(JSON.stringify(asked)), { code: -32000 })
      },
    },
    { retryCount: 0 },
  ),
})

const permission = subscriptions.buildSpendPermission({
  chainId: 8453,
  account,
  spender,
  token,
  allowance: '9.99',
  period: 100n,
})
const terms = { spender, token, allowance: '9.99', period: 100n } as const

type Call = (given: never) => unknown

const calls: readonly (readonly [string, Call, object])[] = [
  [
    'buildSpendPermission',
    subscriptions.buildSpendPermission,
    { ...terms, chainId: 8453, account },
  ],
  [
    'signSpendPermission',
    (given) => subscriptions.signSpendPermission(quoting, given),
    { permission, expect: { ...terms, chainId: 8453 } },
  ],
  [
    'verifySpendPermission',
    (given) => subscriptions.verifySpendPermission(quoting, given),
    { permission, signature: `0x${secret}`, expect: terms },
  ],
  [
    'getSpendPermission',
    (given) => subscriptions.getSpendPermission(quoting, given),
    { permission },
  ],
  [
    'findCharges',
    (given) => subscriptions.findCharges(quoting, given),
    { permission, fromBlock: 1n },
  ],
]

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    typeof member === 'bigint' ? String(member) : member,
  )

async function errorOf(call: Call, given: unknown): Promise<unknown> {
  try {
    await call(given as never)
    return 'no error'
  } catch (error) {
    return error
  }
}

test.each(calls)(
  '%s without parameters says what is missing',
  async (_, call) => {
    for (const given of [undefined, null, {}, 5])
      expect(await errorOf(call, given)).toMatchObject({
        name: 'InvalidFieldError',
      })
  },
)

test.each(calls)(
  '%s refuses a member that it does not know',
  async (_, call, given) => {
    expect(await errorOf(call, { ...given, misspelt: 1 })).toMatchObject({
      name: 'InvalidFieldError',
      details: { value: '"misspelt"' },
    })
  },
)

test.each([
  ['periodAt', () => subscriptions.periodAt(permission, 5 as never)],
  ['markOf', () => subscriptions.markOf(undefined as never)],
  ['hashSpendPermission', () => subscriptions.hashSpendPermission(5 as never)],
])('%s refuses a value of another type', (_, call) => {
  expect(call).toThrow(expect.objectContaining({ name: 'InvalidFieldError' }))
})

/** A node that quotes each call, wherever the signature stands in it. */
const quotingCalls = createClient({
  chain: base,
  transport: custom(
    {
      request: async (asked: { method: string }) => {
        const answer = answers[asked.method]
        if (answer) return answer
        quoted.push(asked.method)
        const message = `execution reverted: ${JSON.stringify(asked)}`
        throw Object.assign(new Error(message), { code: 3 })
      },
    },
    { retryCount: 0 },
  ),
})
const quoted: string[] = []
const answers: Record<string, unknown> = {
  eth_chainId: '0x2105',
  eth_getCode: '0x6001',
  eth_getStorageAt: `0x${'00'.repeat(32)}`,
  eth_getBlockByNumber: {
    number: '0x1',
    timestamp: `0x${Math.floor(Date.now() / 1000).toString(16)}`,
    hash: `0x${'cd'.repeat(32)}`,
    baseFeePerGas: '0x1',
  },
}

test('a node that quotes each call does not get the signature into a verdict', async () => {
  const verdict = await subscriptions.verifySpendPermission(quotingCalls, {
    permission,
    signature: `0x${secret}`,
    expect: terms,
  })
  expect(quoted).toContain('eth_call')
  expect(verdict.ok).toBe(false)
  expect(textOf(verdict)).not.toContain('abababababab')
})

test('a node that quotes the request does not get the signature into an error', async () => {
  const [, call, given] = calls[2] ?? []
  const error = await errorOf(call ?? (() => undefined), given)
  expect(error).toMatchObject({ name: 'NodeError' })
  expect(`${Object(error).stack} ${textOf(error)}`).not.toContain(
    'abababababab',
  )
  expect(Object(error).cause).toBeUndefined()
})
