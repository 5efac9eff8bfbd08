import { createClient, custom, numberToHex } from 'viem'
import { base } from 'viem/chains'
import { expect, test } from 'vitest'
import { buildSpendPermission } from '../permission/buildSpendPermission.js'
import { findChargeHash } from './findChargeHash.js'

const permission = buildSpendPermission({
  chainId: 8453,
  account: '0x00000000000000000000000000000000000000a1',
  spender: '0x00000000000000000000000000000000000000b2',
  token: '0x00000000000000000000000000000000000000c3',
  allowance: '10',
  period: 100n,
  start: 1000n,
  salt: 1n,
})

test('a search through a year of blocks asks for all of them at once', async () => {
  const asked: unknown[] = []
  const toBlock = 20_000_000n
  const request = async ({
    method,
    params,
  }: {
    method: string
    params?: unknown
  }) => {
    const [first] = Array.isArray(params) ? params : []
    if (method === 'eth_getLogs') {
      asked.push([first.fromBlock, first.toBlock])
      return []
    }
    const number = first === 'latest' ? toBlock : BigInt(first)
    const hash = `0x${number.toString(16).padStart(64, '0')}`
    const timestamp = numberToHex(number * 2n)
    return { number: numberToHex(number), hash, timestamp }
  }
  const client = createClient({ chain: base, transport: custom({ request }) })
  const { account, spender, token } = permission.message
  const payment = {
    primaryType: 'ReceiveWithAuthorization',
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 8453,
      verifyingContract: token,
    },
    message: {
      from: account,
      to: spender,
      value: 10_000_000n,
      validAfter: 1000n,
      validBefore: 1100n,
      nonce: `0x${'00'.repeat(32)}`,
    },
    permission,
  } as const
  const range = { since: 10_000_000n, toBlock }
  await findChargeHash(client, { ...payment, chargeId: undefined }, range)
  await findChargeHash(client, { ...payment, chargeId: 'may' }, range)
  const all = [numberToHex(5_000_000n), numberToHex(toBlock)]
  expect(asked).toEqual([all, all])
})
