import {
  SigningDeclinedError,
  UnexpectedPaymentError,
  WalletError,
  WrongWalletError,
} from 'countersign'
import { ProblemError, ServerError } from 'countersign/client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { followOrder } from '../../../examples/shop/web/api/followOrder.js'
import { keepTrying } from '../../../examples/shop/web/api/keepTrying.js'
import type { BuyerOrder } from '../../../examples/shop/web/api/openBuyer.js'
import { explainFailure } from '../../../examples/shop/web/buyer/explainFailure.js'
import {
  TooLittleMoney,
  WrongNetwork,
} from '../../../examples/shop/web/buyer/failures.js'
import { pointOf } from '../../../examples/shop/web/buyer/pointOf.js'

beforeEach(() => {
  vi.stubGlobal('location', new URL('https://shop.test'))
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const order: BuyerOrder = {
  amount: '12.5',
  chainId: 31337,
  token: '0x00000000000000000000000000000000000000a1',
  recipient: '0x00000000000000000000000000000000000000b2',
  window: { validAfter: '100', validBefore: '1000' },
  state: 'stored',
  transaction: null,
  refunds: [],
}
const purchase = { amount: '12.50', symbol: 'USDC', decimals: 6 }

const streamOf = (
  ...chunks: string[]
): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks)
        controller.enqueue(new TextEncoder().encode(chunk))
      controller.close()
    },
  })

/** A problem of a shop that says, with some reasons, when to try again. */
const problemOf = (status: number, reason: string): ProblemError =>
  new ProblemError({
    reason,
    status,
    detail: 'Because.',
    field: undefined,
    retryAfter: ['nodeUnavailable', 'acceptInFlight'].includes(reason)
      ? 1_000
      : undefined,
  })

const eventStream = { headers: { 'content-type': 'text/event-stream' } }

test('an order is followed from its beginning, through a lost connection', async () => {
  vi.useFakeTimers()
  const asked: (string | null)[] = []
  const frame = (id: number, type: string, shown: BuyerOrder): string =>
    `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ type, at: '5', order: shown })}\n\n`
  const transaction = { hash: '0x1', finality: 'finalized' } as const
  const answers = [
    () => new Response(streamOf(frame(2, 'accepted', order)), eventStream),
    () => Promise.reject(new TypeError('fetch failed')),
    () =>
      new Response(
        streamOf(
          frame(7, 'finalityRaised', {
            ...order,
            state: 'captured',
            transaction,
          }),
        ),
        eventStream,
      ),
  ]
  vi.stubGlobal('fetch', async ({ headers }: Request) => {
    asked.push(headers.get('last-event-id'))
    return answers.shift()?.()
  })
  const told: string[] = []
  const following = followOrder(
    { orderId: '1', token: 'token' },
    {
      signal: new AbortController().signal,
      onNews: ({ type, at }) => told.push(`${type} ${at}`),
      onReachable: (isReachable) => told.push(isReachable ? 'live' : 'lost'),
    },
  )
  await vi.runAllTimersAsync()
  await following

  expect(asked).toEqual(['0', '2', '2'])
  expect(told).toEqual([
    'live',
    'accepted 5',
    'lost',
    'live',
    'finalityRaised 5',
  ])
})

test('an order is followed on when the shop stumbles over it', async () => {
  vi.useFakeTimers()
  const transaction = { hash: '0x1', finality: 'finalized' } as const
  const final = { ...order, state: 'captured', transaction }
  const data = JSON.stringify({ type: 'status', at: '5', order: final })
  const answers = [
    () => Response.json({ reason: 'internal' }, { status: 500 }),
    () => new Response(streamOf(`id: 7\ndata: ${data}\n\n`), eventStream),
  ]
  vi.stubGlobal('fetch', async () => answers.shift()?.())
  const told: string[] = []
  const following = followOrder(
    { orderId: '1', token: 'token' },
    {
      signal: new AbortController().signal,
      onNews: ({ type }) => told.push(type),
      onReachable: (isReachable) => told.push(isReachable ? 'live' : 'lost'),
    },
  )
  await vi.runAllTimersAsync()
  await following

  expect(told).toEqual(['lost', 'live', 'status'])
})

test('an order that is not there is not followed', async () => {
  vi.stubGlobal('fetch', async () =>
    Response.json({ reason: 'orderNotFound' }, { status: 404 }),
  )
  const following = followOrder(
    { orderId: '1', token: 'token' },
    {
      signal: new AbortController().signal,
      onNews: () => undefined,
      onReachable: () => undefined,
    },
  )

  await expect(following).rejects.toMatchObject({ reason: 'orderNotFound' })
})

test.each([
  ['nobody answers', new ServerError({ request: 'GET /' })],
  ['the node is away', problemOf(503, 'nodeUnavailable')],
  ['another try is being checked', problemOf(409, 'acceptInFlight')],
])('what is asked is asked again when %s', async (_name, failure) => {
  vi.useFakeTimers()
  const ask = vi.fn<() => Promise<string>>()
  ask.mockRejectedValueOnce(failure).mockResolvedValueOnce('answer')
  const answer = keepTrying(ask)
  await vi.runAllTimersAsync()

  expect(await answer).toBe('answer')
})

test('what was refused is not asked again', async () => {
  const refused = problemOf(422, 'insufficientFunds')
  const ask = vi.fn<() => Promise<string>>().mockRejectedValue(refused)

  await expect(keepTrying(ask)).rejects.toBe(refused)
  expect(ask).toHaveBeenCalledTimes(1)
})

test.each([
  [new SigningDeclinedError(), 'You declined in your wallet', undefined],
  [
    Object.assign(new Error(), { code: 4001 }),
    'You declined in your wallet',
    undefined,
  ],
  [
    new WrongNetwork(8453),
    'Your wallet is on another network',
    'switchNetwork',
  ],
  [
    new WrongWalletError('chainId', 8453, 31337),
    'Your wallet is on another network',
    'switchNetwork',
  ],
  [
    new WrongWalletError('account', order.token, order.recipient),
    'Your wallet uses another account',
    'changeAccount',
  ],
  [new TooLittleMoney(0n), 'Not enough money in this account', 'testMoney'],
  [
    problemOf(422, 'insufficientFunds'),
    'Not enough money in this account',
    'testMoney',
  ],
  [problemOf(422, 'expiresTooSoon'), 'This order has expired', undefined],
  [problemOf(409, 'notOpen'), 'The order has changed', undefined],
  [
    problemOf(409, 'captureInFlight'),
    'The shop is charging this payment',
    undefined,
  ],
  [problemOf(422, 'paused'), 'The shop refused your request', undefined],
  [
    new UnexpectedPaymentError('value', 2n, 1n),
    'This is not what you ordered',
    undefined,
  ],
  [new WalletError(-32_002), 'Your wallet is waiting for an answer', undefined],
  [new WalletError(), 'Your wallet did not sign', 'changeAccount'],
  [
    new ServerError({ request: 'GET /' }),
    'The shop cannot be reached',
    undefined,
  ],
])('%s is said in words, with what helps', (error, title, help) => {
  expect(explainFailure(error, purchase)).toMatchObject({
    title,
    ...(help && { help }),
    text: expect.stringMatching(/\.$/),
  })
})

test('a page that is offline does not blame the wallet', () => {
  vi.stubGlobal('navigator', { onLine: false })

  expect(explainFailure(new WalletError(), purchase)).toMatchObject({
    title: 'You are offline',
  })
})

test('too little money is said to the cent', () => {
  const { text } = explainFailure(new TooLittleMoney(1_500_000n), purchase)

  expect(text).toContain('It holds 1.50 USDC; the payment needs 12.50 USDC.')
})

test.each([
  [{ ...order, state: 'drafted' }, undefined, 'drafted'],
  [{ ...order, state: 'drafted' }, 'sending', 'signed'],
  [order, undefined, 'stored'],
  [{ ...order, state: 'capturing' }, undefined, 'capturing'],
  [
    {
      ...order,
      state: 'capturing',
      transaction: { hash: '0x1', finality: 'preconfirmed' },
    },
    undefined,
    'preconfirmed',
  ],
  [
    {
      ...order,
      state: 'captured',
      transaction: { hash: '0x1', finality: 'safe' },
    },
    undefined,
    'safe',
  ],
  [{ ...order, state: 'expired' }, undefined, 'expired'],
] as const)(
  'an order of this state is at its point of the way (%#)',
  (shown, phase, point) => {
    expect(pointOf(shown, phase)).toBe(point)
  },
)
