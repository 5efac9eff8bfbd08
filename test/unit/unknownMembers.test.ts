import * as root from 'countersign'
import * as devchain from 'countersign/devchain'
import * as durable from 'countersign/durable'
import * as http from 'countersign/http'
import * as ordersEntry from 'countersign/orders'
import * as reads from 'countersign/reads'
import * as sql from 'countersign/sql'
import * as storeEntry from 'countersign/store'
import * as testing from 'countersign/testing'
import * as webhooks from 'countersign/webhooks'
import { createClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, expect, test } from 'vitest'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const requests: unknown[] = []
const request = async (asked: unknown) => {
  requests.push(asked)
  throw new Error('no request may be sent')
}
const transport = custom({ request }, { retryCount: 0 })
const client = createClient({ chain: base, account, transport })

const payment = testing.samplePayment({ from: account.address })
const token = payment.domain.verifyingContract
const store = storeEntry.memoryStore()
const shop = {
  store,
  seal: 'none' as const,
  tokens: [{ client, token }],
  wallets: [client],
}
const orders = ordersEntry.createOrders(shop)
afterAll(() => orders.close())
const page = {
  chainId: 8453,
  token,
  to: payment.message.to,
  amount: '12.50',
}
const target = {
  name: 'warehouse',
  url: 'https://receiver.example',
  secrets: [`whsec_${'A'.repeat(43)}=`],
}
const { signal } = new AbortController()
const storage = { sql: { exec() {} }, transactionSync() {} }

/** As JavaScript calls it, where no type is in the way. */
type Call = (given: never) => unknown

const onClient =
  (action: (client: never, given: never) => unknown): Call =>
  (given) =>
    action(client as never, given)

/** Every public function that takes a parameter object, and what it needs. */
const calls: Readonly<Record<string, readonly [Call, object]>> = {
  buildPayment: [root.buildPayment, { domain: payment.domain }],
  preparePayment: [onClient(root.preparePayment), { token }],
  buildCancellation: [root.buildCancellation, { payment }],
  refundNonce: [ordersEntry.refundNonce, { chainId: 1 }],
  captureCall: [root.captureCall, { payment }],
  cancelCall: [root.cancelCall, {}],
  signPayment: [onClient(root.signPayment), { payment, expect: page }],
  signCancellation: [onClient(root.signCancellation), { expect: page }],
  verifyPayment: [onClient(root.verifyPayment), { payment, expect: page }],
  verifyPayments: [onClient(root.verifyPayments), { payments: [] }],
  explainSignature: [root.explainSignature, { payment }],
  capturePayment: [onClient(root.capturePayment), { payment }],
  capturePaymentSync: [onClient(root.capturePaymentSync), { payment }],
  signCapture: [onClient(root.signCapture), { payment }],
  cancelPayment: [onClient(root.cancelPayment), {}],
  waitForOutcome: [onClient(root.waitForOutcome), { payment }],
  getPaymentOutcome: [onClient(root.getPaymentOutcome), { payment }],
  getAuthorizationState: [onClient(root.getAuthorizationState), { token }],
  getToken: [onClient(root.getToken), { token }],
  getLogs: [onClient(reads.getLogs), { address: token }],
  streamLogs: [
    (given) => reads.streamLogs(client, given).next(),
    { address: token },
  ],
  watchLogs: [
    onClient(reads.watchLogs),
    { address: token, onEvent: () => undefined },
  ],
  createReadClient: [
    reads.createReadClient,
    { url: 'http://127.0.0.1:8545', chain: base },
  ],
  getBalance: [onClient(reads.getBalance), { address: token, block: 'latest' }],
  getBlockReceipts: [onClient(reads.getBlockReceipts), { block: 'latest' }],
  getTransactionCount: [
    onClient(reads.getTransactionCount),
    { address: token, block: 'latest' },
  ],
  createOrders: [ordersEntry.createOrders, shop],
  memoryStore: [storeEntry.memoryStore, { volatile: true }],
  sealer: [
    storeEntry.sealer,
    { keys: { first: new Uint8Array(32) }, current: 'first' },
  ],
  sqliteStore: [sql.sqliteStore, { file: 'never.db' }],
  durableObjectStore: [
    (given) => durable.durableObjectStore(storage as never, given),
    { restored: 'bookmark' },
  ],
  postgresStore: [sql.postgresStore, { connectionString: 'postgres://x' }],
  createPaymentHandler: [
    (given) => http.createPaymentHandler(orders, given),
    { authorize: () => undefined },
  ],
  runWebhooks: [
    (given) => webhooks.runWebhooks(orders, given),
    { store, targets: [target], signal },
  ],
  getWebhookLag: [
    (given) => webhooks.getWebhookLag(orders, given),
    { store, target: 'warehouse' },
  ],
  replayWebhooks: [
    (given) => webhooks.replayWebhooks(orders, given),
    { store, target: 'warehouse', after: 0n },
  ],
  startDevChain: [devchain.startDevChain, { binary: 'no-such-anvil' }],
  deployDevContract: [
    (given) => devchain.deployDevContract({ clients: {} } as never, given),
    { contract: devchain.devContracts.strictWallet },
  ],
  deployDevToken: [
    (given) => devchain.deployDevToken({ clients: {} } as never, given),
    {},
  ],
  samplePayment: [testing.samplePayment, {}],
  faultTransport: [
    (given) => testing.faultTransport(transport, given),
    { seed: 1 },
  ],
}

/** Public functions without a parameter object. */
const others = [
  'decodePayment',
  'decodeTokenLog',
  'detectPreconfirmations',
  'encodePayment',
  'formatAmount',
  'hashPayment',
  'parseAmount',
  'paymentTypedData',
  'toCsv',
  'toHledger',
  'toJsonLines',
]

async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  return undefined
}

const refusal = (field: string, known = '') => ({
  name: 'InvalidFieldError',
  message: expect.stringContaining('not "payerr"'),
  details: {
    field,
    value: '"payerr"',
    expected: expect.stringContaining(known),
  },
})

test('every public function is in the tables of this file', () => {
  const stores = [storeEntry, sql, durable]
  const entries = [root, reads, ordersEntry, ...stores, http, webhooks]
  const functions = [...entries, devchain, testing].flatMap((entry) =>
    Object.entries(entry)
      .filter(
        ([name, value]) => typeof value === 'function' && /^[a-z]/.test(name),
      )
      .map(([name]) => name),
  )
  expect([...functions].sort()).toEqual(
    [...Object.keys(calls), ...others].sort(),
  )
})

test.each(Object.entries(calls))(
  '%s refuses a member it does not know, and lists those it knows',
  async (_, [call, given]) => {
    const strange = { ...given, payerr: undefined }
    const [known = ''] = Object.keys(given)
    const error = await thrownBy(() => call(strange as never))
    expect(error).toMatchObject(refusal('parameters', known))
    expect(requests).toEqual([])
  },
)

const verbs = {
  draft: { amount: '1' },
  accept: { orderId: '1', payment },
  reauthorize: { orderId: '1' },
  void: { orderId: '1' },
  cancellationToSign: { orderId: '1' },
  acceptCancellation: { orderId: '1', cancellation: {} },
  approveCancellation: { orderId: '1' },
  reconcile: {},
  get: { orderId: '1' },
  refund: { orderId: '1', refundId: 'one' },
  refundToSign: { orderId: '1', refundId: 'one' },
  acceptRefund: { orderId: '1', refundId: 'one', signature: '0x12' },
  getRefund: { orderId: '1', refundId: 'one' },
  getForBuyer: { orderId: '1', buyerToken: 'x' },
  list: {},
  events: {},
  audit: {},
  ledger: {},
  capture: { orderId: '1' },
  run: { signal },
  runDue: { until: Date.now() + 600_000 },
  archive: { olderThan: 1 },
  reseal: {},
  within: { recipients: [] },
  changeRecipients: { add: [] },
}

test.each(Object.entries(verbs))(
  'orders.%s refuses a member it does not know, and lists those it knows',
  async (name, given) => {
    const verb: Call =
      name === 'ledger'
        ? (given) => orders.ledger(given).next()
        : Reflect.get(orders, name)
    const strange = { ...given, payerr: 1 }
    const [known = ''] = Object.keys(given)
    expect(await thrownBy(() => verb(strange as never))).toMatchObject(
      refusal('parameters', known),
    )
    expect(requests).toEqual([])
  },
)

test('the verbs with parameters are all named here', () => {
  const bare = ['health', 'liveness', 'readiness', 'suspend', 'resume', 'close']
  expect(Object.keys(orders).sort()).toEqual(
    [...Object.keys(verbs), ...bare].sort(),
  )
})

test('a signature in place of the whole cancellation is refused', async () => {
  const given = { orderId: '1', signature: '0x12' } as never
  expect(await thrownBy(() => orders.acceptCancellation(given))).toMatchObject({
    message:
      'parameters must be an object with only the members orderId, cancellation, not "signature".',
  })
})

test('an expectation with an unknown payer is refused by verifyPayment, not passed', async () => {
  const signed = { ...payment, signature: `0x${'11'.repeat(64)}1b` } as const
  for (const strange of ['payer', 'recipient', 'Nonce', 'decimals']) {
    const error = await thrownBy(() =>
      root.verifyPayment(client, {
        payment: signed,
        expect: { ...page, [strange]: account.address },
      }),
    )
    expect(error).toMatchObject({
      name: 'InvalidFieldError',
      details: { field: 'expect', value: `"${strange}"` },
    })
  }
  expect(requests).toEqual([])
})

test.each<[string, () => unknown]>([
  [
    'policy',
    () => ordersEntry.createOrders({ ...shop, policy: { payerr: 1 } as never }),
  ],
  [
    'policy.blocks',
    () =>
      ordersEntry.createOrders({
        ...shop,
        policy: { blocks: { safe: 1, finalized: 2, payerr: 3 } as never },
      }),
  ],
  [
    'tokens[0]',
    () =>
      ordersEntry.createOrders({
        ...shop,
        tokens: [{ client, token, payerr: 1 } as never],
      }),
  ],
  [
    'destination',
    () =>
      orders.reconcile({
        destination: {
          chainId: 1,
          token,
          recipient: token,
          payerr: 1,
        } as never,
      }),
  ],
  [
    'cors',
    () =>
      http.createPaymentHandler(orders, {
        authorize: () => undefined,
        cors: { origins: [], payerr: 1 } as never,
      }),
  ],
  [
    'targets[0]',
    () =>
      webhooks.runWebhooks(orders, {
        store,
        targets: [{ ...target, payerr: 1 } as never],
        signal,
      }),
  ],
  [
    'policies',
    () => devchain.startDevChain({ policies: { payerr: 1 } as never }),
  ],
  [
    'rates',
    () =>
      testing.faultTransport(transport, {
        seed: 1,
        rates: { payerr: 1 } as never,
      }),
  ],
  ['domain', () => testing.samplePayment({ domain: { payerr: 1 } as never })],
  [
    'payment',
    () => root.captureCall({ payment: { ...payment, payerr: 1 } as never }),
  ],
])('an unknown member of %s is refused too', async (field, work) => {
  expect(await thrownBy(work)).toMatchObject(refusal(field))
  expect(requests).toEqual([])
})
