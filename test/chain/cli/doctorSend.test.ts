import { rmSync } from 'node:fs'
import { startDevChain } from 'countersign/devchain'
import {
  type CreateOrdersParameters,
  createOrders,
  type Orders,
} from 'countersign/orders'
import { runWebhooks } from 'countersign/webhooks'
import { type Address, type Hex, keccak256, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { readContract } from 'viem/actions'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { CheckFinding } from '../../../src/cli/checks/types.js'
import type { CliIo } from '../../../src/cli/terminal/types.js'
import { startReceiver } from '../../unit/support/webhooksReceiver.js'
import { createSecret, eventually } from '../../unit/support/webhooksRun.js'
import {
  type CliShop,
  openCliShop,
  type Ran,
  typed,
} from '../support/cliShop.js'
import { fakeNode, fundedAccount } from '../support/desk.js'
import { findSecrets, secretForms } from '../support/secretForms.js'
import { pay } from '../support/shop.js'

let chain: Awaited<ReturnType<typeof startDevChain>>

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
})
afterAll(() => chain.stop())

/** A key that holds some tokens and no ether, and a shop of its own. */
async function openTest() {
  const shop = await openCliShop(chain, {
    policy: { fulfilAt: 'included', pollingInterval: 50 },
  })
  // Creates the tables, as the first server does.
  const orders = createOrders(shop.parameters())
  await orders.health()
  onTestFinished(async () => {
    await orders.close()
    rmSync(shop.folder, { recursive: true, force: true })
  })
  const key = generatePrivateKey()
  const payer = privateKeyToAccount(key).address
  await chain.mint({ to: payer, value: 100n })
  return { shop, orders, key, payer }
}

/** Has a worker run until the test is over. */
function startWorker(
  shop: CliShop,
  changes: Partial<CreateOrdersParameters> = {},
): Orders {
  const orders = createOrders(shop.parameters(changes))
  const stopping = new AbortController()
  const running = orders.run({ signal: stopping.signal })
  onTestFinished(async () => {
    stopping.abort()
    await running
    await orders.close()
  })
  return orders
}

const never = () => new Promise<never>(() => {})

/** Runs `doctor --send` with a text on standard input. */
async function send(
  { run }: CliShop,
  key: string,
  { args = [], ...io }: Partial<CliIo> & { args?: readonly string[] } = {},
): Promise<Ran & { words: string; about: CheckFinding[]; test: SentFacts }> {
  const options = { stdin: typed(key), untilInterrupted: never, ...io }
  const ran = await run(['doctor', '--send', '--json', ...args], options)
  expectNoKey(ran, key)
  const { findings, test = {} } = ran.stdout ? JSON.parse(ran.stdout) : {}
  const about = (findings ?? []).filter(
    ({ subject }: CheckFinding) => subject === 'test payment',
  )
  const words = about.map((one: CheckFinding) => one.words).join('; ')
  return { ...ran, about, words, test }
}

type SentFacts = { orderId?: string; state?: string; transactionHash?: Hex }

function expectNoKey({ stdout, stderr }: Ran, key: string): void {
  const digits = key.trim().replace(/^0x/, '').toLowerCase()
  expect((stdout + stderr).toLowerCase()).not.toContain(digits)
}

/** Pays an order as a buyer does. */
async function buy(orders: Orders, orderId: string) {
  const buyer = await fundedAccount(chain, 1_000_000n)
  const { payment } = await orders.draft({ orderId, amount: '1' })
  await orders.accept({ orderId, payment: await pay(buyer, payment) })
  return orders.capture({ orderId, timeout: 60_000 })
}

const typesOf = async (orders: Orders, orderId: string) =>
  (await orders.events({ orderId })).events.map(({ type }) => type)

const unitsOf = (owner: Address): Promise<bigint> =>
  readContract(chain.clients.public, {
    address: chain.token,
    abi: parseAbi(['function balanceOf(address) view returns (uint256)']),
    functionName: 'balanceOf',
    args: [owner],
  })

test('the running worker captures a test payment, and fulfils only the order after it', async () => {
  const { shop, key, payer } = await openTest()
  const orders = startWorker(shop)
  const receiver = await startReceiver()
  const stopping = new AbortController()
  const { signal } = stopping
  const hooks = runWebhooks(orders, {
    store: shop.parameters().store,
    signal,
    targets: [
      {
        name: 'warehouse',
        url: receiver.url,
        ca: receiver.ca,
        secrets: [createSecret()],
        privateHosts: ['localhost'],
      },
    ],
  })
  onTestFinished(async () => {
    stopping.abort()
    await hooks
  })
  const sent = await send(shop, key)
  expect(sent).toMatchObject({ code: 0, stderr: '' })
  expect(sent.about.map(({ level }) => level)).toEqual([
    ...['ok', 'ok', 'ok', 'ok', 'ok'],
  ])
  const { orderId = '', transactionHash } = sent.test
  expect(sent.test.state).toBe('captured')
  expect(orderId).toMatch(/^countersign-test-[\da-f]{32}$/)
  expect(sent.words).toContain(
    `a worker captured it in transaction ${transactionHash}`,
  )
  expect(await unitsOf(payer)).toBe(99n)

  expect(await buy(orders, 'real')).toMatchObject({ status: 'captured' })
  await eventually(() => typesOf(orders, 'real')).toContain('fulfil')
  expect((await typesOf(orders, orderId)).slice(0, 5)).toEqual([
    'drafted',
    'accepted',
    'captureRequested',
    'capturing',
    'captured',
  ])
  expect(await typesOf(orders, orderId)).not.toContain('fulfil')
  await eventually(() =>
    receiver.received.map(({ payload }) => payload.type).slice(0, 6),
  ).toEqual([
    'order.drafted',
    'order.accepted',
    'order.captureRequested',
    'order.capturing',
    'order.captured',
    'order.fulfil',
  ])
  for (const { payload } of receiver.received)
    expect(payload.data.orderId).toBe('real')

  // The books show that the token moved.
  const ledger = await shop.run(['ledger'])
  expect(ledger.stdout).toContain(orderId)
  const audit = await shop.run(['audit', '--json'])
  expect(audit.code).toBe(0)
  expect(JSON.parse(audit.stdout).destinations[0].captured).toEqual({
    count: 2,
    value: '1000001',
  })
})

test('without a worker the order is voided, and one that starts later captures nothing of it', async () => {
  const { shop, orders, key, payer } = await openTest()
  const sent = await send(shop, key, { args: ['--timeout', '1'] })
  expect(sent.code).toBe(1)
  expect(sent.about.map(({ level }) => level)).toEqual([
    ...['ok', 'ok', 'ok', 'ok', 'fail', 'ok'],
  ])
  expect(sent.words).toMatch(
    /hangs in the state stored: no worker took it within 1 second; is voided/,
  )
  expect(sent.test.state).toBe('voided')
  const { orderId = '' } = sent.test
  const forms = secretForms(await readSignature(shop, orderId))
  expect(findSecrets(Buffer.from(sent.stdout + sent.stderr), forms)).toEqual([])

  startWorker(shop)
  await buy(orders, 'real')
  await eventually(() => typesOf(orders, 'real')).toContain('fulfil')
  expect((await orders.get({ orderId })).state).toBe('voided')
  expect(await unitsOf(payer)).toBe(100n)
})

/** The signature of a payment, which this shop keeps in the open. */
async function readSignature(shop: CliShop, orderId: string): Promise<Hex> {
  const { store } = shop.parameters()
  await store.open()
  const [attempt] = await store.read((tables) =>
    tables.attempts.find({ orderIds: [orderId] }),
  )
  await store.close()
  const [, digits] =
    /^none 0x([\da-f]{130})$/.exec(attempt?.signature ?? '') ?? []
  if (digits === undefined) throw new Error('no signature is stored')
  return `0x${digits}`
}

test('a transaction that no block takes is named, and the order is voided if it fails', async () => {
  const { shop, orders, key } = await openTest()
  const account = privateKeyToAccount(shop.merchantKey)
  const { client } = fakeNode(
    chain,
    async ({ method, params }, forward) =>
      method === 'eth_sendRawTransaction'
        ? keccak256(Object(params)[0])
        : forward(),
    account,
  )
  startWorker(shop, { wallets: [client] })
  const untilInterrupted = async () => {
    await eventually(async () => {
      const [order] = (await orders.list()).orders
      return order?.state
    }).toBe('capturing')
  }
  const sent = await send(shop, key, { untilInterrupted })
  expect(sent.code).toBe(1)
  expect(sent.words).toContain('was interrupted while capturing')
  expect(sent.about.at(-1)).toMatchObject({
    level: 'warn',
    words: expect.stringContaining('can still be captured'),
  })
  const { orderId = '' } = sent.test
  expect(await orders.get({ orderId })).toMatchObject({ requested: 'void' })
})

test('a payment that the token refuses is named, and its order is voided', async () => {
  const { shop, key, payer } = await openTest()
  await chain.block({ account: payer })
  const sent = await send(shop, key)
  expect(sent.code).toBe(1)
  expect(sent.words).toMatch(/the payment is refused: payerBlocked; is voided/)
  expect(sent.test.state).toBe('voided')
})

test('an interrupt voids the order', async () => {
  const { shop, key } = await openTest()
  const sent = await send(shop, key, {
    untilInterrupted: async () => undefined,
  })
  expect(sent.code).toBe(1)
  expect(sent.words).toMatch(/was interrupted while stored; is voided/)
  expect(sent.test.state).toBe('voided')
})

test('a key without the token, and that of the recipient, store nothing', async () => {
  const { shop, orders } = await openTest()
  const before = await orders.events()
  const poor = await send(shop, generatePrivateKey())
  const own = await send(shop, shop.merchantKey)
  expect([poor, own].map(({ code }) => code)).toEqual([1, 1])
  expect(poor.about).toMatchObject([
    {
      level: 'fail',
      words: expect.stringContaining('holds none of the token'),
    },
  ])
  expect(own.about).toMatchObject([
    {
      level: 'fail',
      words: 'this key belongs to the recipient, which cannot pay itself',
    },
  ])
  expect(await orders.events()).toEqual(before)
  expect((await orders.list()).orders).toEqual([])
})

test.each([
  ['too short', 'ab'.repeat(31)],
  ['two keys', `${'ab'.repeat(32)}\n${'cd'.repeat(32)}`],
  ['above the curve', 'ff'.repeat(32)],
  ['zero', '00'.repeat(32)],
  ['nothing', ''],
])(
  'what is no key ends with 2 before the shop is opened: %s',
  async (_, text) => {
    const { shop } = await openTest()
    const load = async () => {
      throw new Error('opened')
    }
    const ran = await shop.run(['doctor', '--send'], {
      stdin: typed(text),
      load,
    })
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).not.toContain('opened')
    for (const part of text.split('\n').filter(Boolean)) expectNoKey(ran, part)
  },
)

test('on a terminal it says what to type, and shows how long it waits', async () => {
  const { shop, key } = await openTest()
  const ran = await shop.run(['doctor', '--send', '--timeout', '3'], {
    readHidden: async () => `${key}\n`,
    untilInterrupted: never,
    isTerminal: true,
    isErrorTerminal: true,
  })
  expect(ran.code).toBe(1)
  expect(ran.stderr).toMatch(/^Type or paste the private key that pays/)
  expect(ran.stderr).toMatch(/\rWaiting for a worker: \d s of 3 s /)
  expect(ran.stderr).toMatch(/\r +\r$/)
  expect(ran.stdout).toContain('hangs in the state stored')
  expectNoKey(ran, key)
})

test('nothing is sent if a check failed, and options of it need --send', async () => {
  const { shop, orders, key } = await openTest()
  await orders.suspend()
  const sent = await send(shop, key)
  expect(sent.code).toBe(1)
  expect(sent.words).toBe('was not made, because a check failed')
  expect((await orders.list()).orders).toEqual([])
  for (const args of [
    ['doctor', '--timeout', '5'],
    ['doctor', '--send', '--timeout', '0'],
    ['doctor', '--send', '--recipient', '0x12'],
  ])
    expect((await shop.run(args, { stdin: typed(key) })).code).toBe(2)
  const other = ['--recipient', `0x${'1'.repeat(40)}`]
  const elsewhere = await send(shop, key, { args: other })
  expect(elsewhere).toMatchObject({ code: 2, stdout: '' })
  expect(elsewhere.stderr).toContain('no such chain, token and recipient')
})
