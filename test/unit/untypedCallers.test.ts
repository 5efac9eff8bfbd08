import * as root from 'countersign'
import { createPaymentHandler } from 'countersign/http'
import * as reads from 'countersign/reads'
import { memoryStore } from 'countersign/store'
import { samplePayment } from 'countersign/testing'
import { getWebhookLag } from 'countersign/webhooks'
import { createClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { expect, test } from 'vitest'
import { stubOrders } from './support/httpStub.js'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const requests: unknown[] = []
const request = async (asked: unknown) => {
  requests.push(asked)
  throw new Error('no request may be sent')
}
const transport = custom({ request }, { retryCount: 0 })
const client = createClient({ chain: base, account, transport })

/** As JavaScript calls it, where no type is in the way. */
type Call = (given: unknown) => unknown
const onClient =
  (action: (client: never, given: never) => unknown): Call =>
  (given) =>
    action(client as never, given as never)
const plain =
  (make: (given: never) => unknown): Call =>
  (given) =>
    make(given as never)

async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  return undefined
}

test.each<[string, Call, string]>([
  ['buildCancellation', plain(root.buildCancellation), 'payment'],
  ['captureCall', plain(root.captureCall), 'payment.primaryType'],
  ['cancelCall', plain(root.cancelCall), 'cancellation.primaryType'],
  ['explainSignature', plain(root.explainSignature), 'payment.primaryType'],
  ['signPayment', onClient(root.signPayment), 'payment'],
  ['signCancellation', onClient(root.signCancellation), 'cancellation'],
  ['signCapture', onClient(root.signCapture), 'payment'],
  ['capturePayment', onClient(root.capturePayment), 'payment'],
  ['capturePaymentSync', onClient(root.capturePaymentSync), 'payment'],
  ['cancelPayment', onClient(root.cancelPayment), 'cancellation'],
  ['getToken', onClient(root.getToken), 'token'],
  ['getBalance', onClient(reads.getBalance), 'address'],
  ['getTransactionCount', onClient(reads.getTransactionCount), 'address'],
  ['getBlockReceipts', onClient(reads.getBlockReceipts), 'block'],
  ['getLogs', onClient(reads.getLogs), 'filter'],
  ['watchLogs', onClient(reads.watchLogs), 'onEvent'],
  ['createReadClient', plain(reads.createReadClient), 'url'],
  [
    'createPaymentHandler',
    (given) => createPaymentHandler(stubOrders({}), given as never),
    'authorize',
  ],
])('%s without its parameters names what it lacks', async (_, call, field) => {
  for (const given of [undefined, null, 7, Symbol('x')])
    expect(await thrownBy(() => call(given))).toMatchObject({
      name: 'InvalidFieldError',
      details: { field },
    })
  expect(requests).toEqual([])
})

const payment = await root.signPayment(client, {
  payment: samplePayment({
    from: account.address,
    validAfter: 0n,
    validBefore: 2n ** 40n,
    primaryType: 'TransferWithAuthorization',
  }),
  expect: {
    chainId: 8453,
    token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    to: samplePayment().message.to,
    amount: '12.50',
    primaryType: 'TransferWithAuthorization',
    maxWindow: 2n ** 40n,
  },
})
const decided = {
  payment,
  simulate: false,
  nonce: 0,
  gas: 100_000n,
  maxFeePerGas: 2n,
  maxPriorityFeePerGas: 1n,
}

test('what is decided in whole numbers is signed, and nothing asked', async () => {
  const { nonce, raw } = await root.signCapture(client, decided)
  expect([nonce, raw.slice(0, 4)]).toEqual([0, '0x02'])
  expect(requests).toEqual([])
})

test.each(['nonce', 'gas', 'maxFeePerGas', 'maxPriorityFeePerGas', 'gasPrice'])(
  'a transaction whose %s is no whole number is not signed',
  async (field) => {
    const actions = [
      root.signCapture,
      root.capturePayment,
      root.capturePaymentSync,
    ]
    for (const action of actions)
      for (const value of [
        Number.NaN,
        -1,
        1.5,
        -1n,
        '0x1',
        true,
        [],
        {},
        () => 1,
      ])
        expect(
          await thrownBy(() =>
            onClient(action)({ ...decided, [field]: value }),
          ),
        ).toMatchObject({
          name: 'InvalidFieldError',
          retryable: false,
          details: { field },
        })
    expect(requests).toEqual([])
  },
)

test('a store that forgets is not had by calling for nothing', () => {
  const { env } = process
  process.env = {}
  try {
    expect(() => memoryStore(null as never)).toThrow(
      expect.objectContaining({ name: 'StoreError' }),
    )
  } finally {
    process.env = env
  }
})

test('a function is named as an object, without its source', async () => {
  const given = Object.assign(() => 'secret', { toString: 1 })
  expect(await thrownBy(() => root.parseAmount(given as never))).toMatchObject({
    details: { amount: 'an object' },
  })
})

test('a path that is no text is told so, and a target without a name', async () => {
  const given = { basePath: Symbol('x'), authorize: () => undefined }
  expect(
    await thrownBy(() => createPaymentHandler(stubOrders(), given as never)),
  ).toMatchObject({ details: { field: 'basePath' } })
  for (const lag of [undefined, null, 'target'])
    expect(
      await thrownBy(() => getWebhookLag(stubOrders(), lag as never)),
    ).toMatchObject({ details: { field: 'target' } })
})
