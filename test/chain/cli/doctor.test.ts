import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { startDevChain } from 'countersign/devchain'
import type { CreateOrdersParameters } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sealer } from 'countersign/store'
import { createClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CheckFinding } from '../../../src/cli/checks/types.js'
import { type CliShop, openCliShop, openServer } from '../support/cliShop.js'
import {
  type Asked,
  fakeNode,
  fundedAccount,
  rpcError,
} from '../support/desk.js'
import { pay } from '../support/shop.js'

const keys = { first: randomBytes(32) }
let chain: Awaited<ReturnType<typeof startDevChain>>
let shop: CliShop

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
  shop = await openCliShop(chain, { seal: sealer({ keys, current: 'first' }) })
  const orders = openServer(shop)
  const buyer = await fundedAccount(chain, 1_000_000n)
  const { order, payment } = await orders.draft({ amount: '1' })
  const signed = await pay(buyer, payment)
  await orders.accept({ orderId: order.id, payment: signed })
  await orders.close()
})
afterAll(async () => {
  rmSync(shop.folder, { recursive: true, force: true })
  await chain.stop()
})

async function examine(changes: Partial<CreateOrdersParameters> = {}) {
  const load = async () => ({ default: shop.parameters(changes) })
  const { code, stdout } = await shop.run(['doctor', '--json'], { load })
  const findings: CheckFinding[] = JSON.parse(stdout).findings
  const about = (subject: string) =>
    findings.filter((one) => one.subject.includes(subject))
  return { code, findings, about }
}

/** The shop, with a function in front of its node. */
function withNode(
  answer: (asked: Asked, forward: () => Promise<unknown>) => Promise<unknown>,
): Partial<CreateOrdersParameters> {
  const { client } = fakeNode(chain, answer)
  return { tokens: [{ client, token: chain.token }] }
}

test('a shop that is ready has no failure, and its sealed payment opens', async () => {
  const { code, findings, about } = await examine()
  expect(code).toBe(0)
  expect(findings.filter(({ level }) => level === 'fail')).toEqual([])
  expect(about('sealing keys')).toEqual([
    {
      level: 'ok',
      subject: 'sealing keys',
      words: 'open 1 of 1 secrets, as a sample',
    },
  ])
})

test.each([
  [
    'a key that is missing',
    { second: randomBytes(32) },
    'second',
    'stored secrets need the keys "first", which the sealer does not have',
  ],
  [
    'a key of other bytes',
    { first: randomBytes(32) },
    'first',
    '1 of 1 secrets do not open',
  ],
])('%s fails', async (_, other, current, words) => {
  const { code, about } = await examine({
    seal: sealer({ keys: other, current } as Parameters<typeof sealer>[0]),
  })
  expect(code).toBe(1)
  expect(about('sealing keys')).toMatchObject([{ level: 'fail', words }])
})

test('an account without gas fails, and one with little is a warning', async () => {
  const { address } = privateKeyToAccount(shop.merchantKey)
  const setBalance = (value: bigint) =>
    chain.clients.test.setBalance({ address, value })
  await setBalance(0n)
  const empty = await examine()
  await setBalance(10n ** 15n * 5n)
  const little = await examine()
  await setBalance(10n ** 18n)
  expect(empty.code).toBe(1)
  expect(empty.about('gas of')).toMatchObject([{ level: 'fail' }])
  expect(little.code).toBe(0)
  expect(little.about('gas of')).toMatchObject([{ level: 'warn' }])
})

test('a token that is paused, or blocks the recipient, fails', async () => {
  const { address: account } = privateKeyToAccount(shop.merchantKey)
  await chain.pause()
  await chain.block({ account })
  const { code, about } = await examine()
  await chain.block({ account, blocked: false })
  await chain.pause(false)
  expect(code).toBe(1)
  expect(about('token')).toMatchObject([
    { level: 'ok' },
    { level: 'fail', words: 'is paused: nothing can be captured' },
    { level: 'fail', words: expect.stringMatching(/^blocks the recipient 0x/) },
  ])
})

test('a node of another chain fails, and is asked nothing else', async () => {
  const node = withNode(async ({ method }, forward) =>
    method === 'eth_chainId' ? '0x1' : forward(),
  )
  const { code, about } = await examine(node)
  expect(code).toBe(1)
  expect(about('chain 31337, node')).toMatchObject([
    { level: 'fail', words: expect.stringContaining('is of chain 1') },
  ])
  expect(about('finality')).toEqual([])
})

test('a node without safe blocks fails, unless the policy counts blocks', async () => {
  const node = withNode(async ({ method, params }, forward) => {
    const [tag] = Object(params)
    const isMissing =
      method === 'eth_getBlockByNumber' && /safe|finalized/.test(String(tag))
    return isMissing ? null : forward()
  })
  const without = await examine(node)
  expect(without.code).toBe(1)
  expect(without.about('finality')).toMatchObject([{ level: 'fail' }])
  const counted = await examine({
    ...node,
    policy: { blocks: { safe: 5, finalized: 10 } },
  })
  expect(counted.about('finality')).toMatchObject([{ level: 'ok' }])
})

test('a node with a clock of its own fails on a real chain', async () => {
  const real = { ...chain.chain, id: 8453 }
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    if (method === 'eth_chainId') return '0x2105'
    const answer = await forward()
    if (method !== 'eth_getBlockByNumber' || !answer) return answer
    const late = Number(Object(answer).timestamp) - 500
    return { ...answer, timestamp: `0x${late.toString(16)}` }
  })
  const account = privateKeyToAccount(shop.merchantKey)
  const { about } = await examine({
    tokens: [{ client: { ...client, chain: real }, token: chain.token }],
    wallets: [
      createClient({ account, chain: real, transport: http(chain.urls.http) }),
    ],
  })
  expect(about('clock')).toMatchObject([{ level: 'fail' }])
  expect(about('wallet')).toMatchObject([
    { level: 'fail', words: 'sends to chain 31337' },
  ])
})

test('limits of logs, of rate and of old state are warnings', async () => {
  let inFlight = 0
  const node = withNode(async ({ method, params }, forward) => {
    const [, block] = Object(params)
    if (method === 'eth_getLogs') throw rpcError(-32000, 'range too wide')
    if (method === 'eth_getBalance' && block === '0x1')
      throw rpcError(-32000, 'missing trie node')
    if (method !== 'eth_blockNumber') return forward()
    inFlight++
    try {
      if (inFlight > 5) throw rpcError(429, 'too many requests')
      return await forward()
    } finally {
      inFlight--
    }
  })
  const { code, about } = await examine(node)
  expect(code).toBe(0)
  for (const subject of ['logs', 'old state', 'rate'])
    expect(about(subject)).toMatchObject([{ level: 'warn' }])
})

test('a node that nobody reaches ends doctor and health with 3', async () => {
  const url = 'http://127.0.0.1:1'
  const account = privateKeyToAccount(shop.merchantKey)
  const away = {
    tokens: [
      {
        client: createReadClient({ chain: chain.chain, url, retry: 0 }),
        token: chain.token,
      },
    ],
    wallets: [
      createClient({
        account,
        chain: chain.chain,
        transport: http(url, { retryCount: 0 }),
      }),
    ],
  }
  expect((await examine(away)).code).toBe(3)
  const load = async () => ({ default: shop.parameters(away) })
  const health = await shop.run(['health'], { load })
  expect(health.code).toBe(3)
  expect(health.stdout).toContain('no connection')
  const audit = await shop.run(['audit'], { load })
  expect(audit.code).toBe(3)
  expect(audit.stderr).toMatch(/^eth_\w+ failed at 127\.0\.0\.1:1/)
})
