import { readFileSync } from 'node:fs'
import {
  ClockSkewError,
  DomainMismatchError,
  FinalityUnsupportedError,
  InvalidAmountError,
  InvalidFieldError,
  UnsupportedTokenError,
} from 'countersign'
import type { Principal } from 'countersign/http'
import { OrdersSetupError } from 'countersign/orders'
import {
  DuplicateRecordError,
  LeaseLostError,
  type OrderReason,
  SealError,
  SealerUnavailableError,
  StaleRecordError,
  StoreError,
} from 'countersign/store'
import { afterEach, expect, test, vi } from 'vitest'
import { NodeAnswerError, NodeError } from '../../../src/chain/rpc/errors.js'
import { refusal } from '../../../src/http/routes/toProblem.js'
import {
  type ProblemReason,
  problemTable,
} from '../../../src/http/schemas/problemTable.js'
import { TransitionError } from '../../../src/orders/model/errors.js'
import { openStub, order, reasonOf } from '../support/httpStub.js'

const secret = `0x${'5ec2e7'.repeat(11)}`

test.each<[Error, unknown[]]>([
  [
    new InvalidFieldError('window', 1n, 'less'),
    [400, 'invalidField', 'window'],
  ],
  [
    new InvalidFieldError('payment.message.to', 1, 'other'),
    [400, 'invalidField', 'message.to'],
  ],
  [new InvalidAmountError('1e9', 'a decimal'), [400, 'invalidField', 'amount']],
  [
    new UnsupportedTokenError({ token: '0x', problem: 'is none' }),
    [422, 'unsupportedToken'],
  ],
  [
    new DomainMismatchError({ token: '0x', onChain: '0x', tried: [] }),
    [422, 'wrongDomain'],
  ],
  [
    new NodeError({ method: 'eth_call', failure: { words: secret } }),
    [503, 'nodeUnavailable'],
  ],
  [
    new NodeAnswerError({ method: 'eth_call', problem: secret }),
    [503, 'nodeUnavailable'],
  ],
  [new ClockSkewError({ chain: 1n, wall: 1_000n }), [503, 'nodeUnavailable']],
  [
    new FinalityUnsupportedError({ finality: 'safe' }),
    [503, 'nodeUnavailable'],
  ],
  [new StoreError('is away', true), [503, 'storeUnavailable']],
  [new SealerUnavailableError('failed'), [503, 'storeUnavailable']],
  [new StaleRecordError({ table: 'orders' }), [503, 'storeUnavailable']],
  [new LeaseLostError({ key: 'submitter' }), [503, 'storeUnavailable']],
  [new DuplicateRecordError({ table: 'orders' }), [503, 'storeUnavailable']],
  [new OrdersSetupError(`have ${secret}`), [500, 'internal']],
  [new SealError(`is ${secret}`), [500, 'internal']],
  [
    new TransitionError({
      role: 'sale',
      cause: 'void',
      from: 'drafted',
      to: secret,
    }),
    [500, 'internal'],
  ],
  [new TypeError(secret), [500, 'internal']],
  [
    Object.assign(new Error(secret), { cause: new Error(secret) }),
    [500, 'internal'],
  ],
])('%s is a problem that repeats no secret', async (error, expected) => {
  for (const path of [
    '/payments/orders/one',
    '/payments/merchant/orders/one',
  ]) {
    const fail = () => Promise.reject(error)
    const response = await openStub({ getForBuyer: fail, get: fail })(path)
    expect(response.headers.get('retry-after') !== null).toBe(
      response.status === 503,
    )
    expect(await response.clone().text()).not.toContain(secret)
    expect(await reasonOf(response)).toEqual(expected)
  }
})

test.each([undefined, null, 'text', 7, { reason: 'noRoute' }])(
  'even %s that is thrown is an answer',
  async (thrown) => {
    const get = () => Promise.reject(thrown)
    const response = openStub({ get })('/payments/merchant/orders/one')
    expect(await reasonOf(response)).toEqual([500, 'internal'])
  },
)

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new InvalidFieldError('key', secret, 'known')
    },
  ],
  ['gives no list', () => ({ recipients: undefined })],
  ['gives a text', () => ({ recipients: 'all' })],
  ['gives no object', () => 7],
  ['gives a list', () => [{ recipients: [] }]],
  ['misspells a member', () => ({ recipients: [], refund: { perDay: '1' } })],
  [
    'misspells a limit',
    () => ({ recipients: [], refunds: { perDay: '1', perday: '1' } }),
  ],
])('an authorize that %s lets nobody in', async (_, authorize) => {
  let letIn = 0
  const within = ({ recipients }: { recipients: readonly unknown[] }) => {
    if (!Array.isArray(recipients)) throw new TypeError('no list')
    letIn++
    throw new Error('let in')
  }
  const ask = openStub(
    { within: within as never },
    { authorize: authorize as never },
  )
  expect(await reasonOf(ask('/payments/merchant/health'))).toEqual([
    ...[500, 'internal'],
  ])
  expect(letIn).toBe(0)
})

test.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])(
  'an authorize that looks up %s in an object of keys knows nobody',
  async (key) => {
    const keys: Record<string, Principal> = {}
    const ask = openStub({}, { authorize: () => keys[key] })
    expect(await reasonOf(ask('/payments/merchant/health'))).toEqual([
      ...[401, 'unauthorized'],
    ])
  },
)

test.each([undefined, null, false, 0, ''])(
  'an authorize that gives %s knows nobody',
  async (nobody) => {
    const ask = openStub({}, { authorize: () => nobody as never })
    expect(await reasonOf(ask('/payments/merchant/health'))).toEqual([
      ...[401, 'unauthorized'],
    ])
  },
)

afterEach(() => {
  vi.useRealTimers()
})

test('what takes longer than 30 seconds is given up', async () => {
  vi.useFakeTimers()
  const response = openStub({ get: () => new Promise(() => {}) })(
    '/payments/merchant/orders/one',
  )
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await reasonOf(response)).toEqual([503, 'timeout'])
})

test('a body that never ends is given up too', async () => {
  vi.useFakeTimers()
  const response = openStub()('/payments/orders/one/payment', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: new ReadableStream({ pull: () => new Promise(() => {}) }),
    duplex: 'half',
  } as RequestInit)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await reasonOf(response)).toEqual([503, 'timeout'])
})

test('a stream that begins too late is closed again', async () => {
  vi.useFakeTimers()
  let admit: () => void = () => {}
  const late = new Promise<void>((resolve) => {
    admit = resolve
  })
  let reads = 0
  const response = openStub({
    getForBuyer: async () => {
      await late
      return { order, payment: undefined }
    },
    events: async ({ after } = {}) => {
      reads++
      const { chainId, token, recipient, id: orderId } = order
      const drafted = {
        chainId,
        token,
        recipient,
        orderId,
        data: { value: '1', nonce: order.nonce, validBefore: '2' },
        at: 1n,
        cursor: 1n,
        sequence: 1,
        type: 'drafted' as const,
      }
      return { events: after === 0n ? [drafted] : [], cursor: 1n }
    },
  })('/payments/orders/one/events')
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await reasonOf(response)).toEqual([503, 'timeout'])
  admit()
  await vi.advanceTimersByTimeAsync(60_000)
  const readsByThen = reads
  await vi.advanceTimersByTimeAsync(60_000)
  expect([reads, vi.getTimerCount()]).toEqual([readsByThen, 0])
  expect(reads).toBeGreaterThan(0)
})

test('a quick answer leaves no timer behind', async () => {
  vi.useFakeTimers()
  await openStub()('/payments/orders/one')
  expect(vi.getTimerCount()).toBe(0)
})

test('a capture is waited for at most 25 seconds', async () => {
  const waits: unknown[] = []
  const ask = openStub({
    capture: async ({ timeout }) => {
      waits.push(timeout)
      return { status: 'unknown', order, resolvedBy: 'worker', until: 9n }
    },
  })
  const prefers = [
    'wait=7',
    'respond-async; wait=0, WAIT = 12',
    'wait=30',
    'wait=99999999999',
    'wait=-1',
    'wait=1.5',
    'await=3',
    'wait',
  ]
  for (const prefer of prefers) {
    const response = await ask('/payments/merchant/orders/one/capture', {
      method: 'POST',
      headers: { prefer },
    })
    expect(response.status).toBe(202)
  }
  expect(waits).toEqual([7_000, 0, 25_000, 25_000, 0, 0, 0, 0])
})

test.each<[ProblemReason, number]>([
  ['notOpen', 409],
  ['captureInFlight', 409],
  ['otherPayment', 409],
  ['expired', 409],
  ['consumed', 409],
  ['canceled', 409],
  ['feeTooHigh', 422],
  ['insufficientFunds', 422],
  ['insufficientAllowance', 422],
])('%s of an order is a %s', async (reason, status) => {
  expect(await reasonOf(refusal(reason, 'state'))).toEqual([status, reason])
})

test('expired and consumed payments are refused as what was sent', async () => {
  for (const reason of ['expired', 'consumed'] as const)
    expect(await reasonOf(refusal(reason, 'sent'))).toEqual([422, reason])
})

test('a reason without a row is told as a capture that was rejected', async () => {
  // Another version may have written a reason that this one does not know.
  const unknown = ['toString', '__proto__', secret] as unknown as OrderReason[]
  for (const reason of ['replaced' as const, ...unknown])
    expect(await reasonOf(refusal(reason, 'state'))).toEqual([
      ...[422, 'captureRejected'],
    ])
})

test('every reason is a row of the page of errors, and says a sentence', () => {
  const page = readFileSync('docs/errors.md', 'utf8')
  for (const [reason, { status, title, detail }] of Object.entries(
    problemTable,
  )) {
    expect([reason, page.includes(`\n| \`${reason}\` |`)]).toEqual([
      reason,
      true,
    ])
    expect([reason, status]).toEqual([reason, expect.any(Number)])
    expect(`${title}. ${detail}`).toMatch(/^[A-Z][^.]+\. [A-Z].+\.$/)
  }
})
