import {
  createClient,
  createTransport,
  custom,
  HttpRequestError,
  TimeoutError,
} from 'viem'
import { expect, onTestFinished, test, vi } from 'vitest'
import { faultTransport } from './faultTransport.js'
import type { FaultKind, FaultTransportParameters } from './injectFault.js'

/** A fake node at block 0x64 that records the calls it gets. */
function fakeNode(answers: Record<string, unknown> = {}) {
  const asked: { method: string; params?: unknown }[] = []
  const transport = custom({
    request: async (question: { method: string; params?: unknown }) => {
      asked.push(question)
      if (question.method === 'eth_blockNumber') return '0x64'
      return answers[question.method] ?? '0x1'
    },
  })
  return { asked, transport }
}

type Options = Omit<FaultTransportParameters, 'seed'> & { retryCount?: number }

function faulty(kind: FaultKind, options: Options = {}) {
  const node = fakeNode({ eth_getLogs: [{ data: '0x' }, { data: '0x1' }] })
  const rates = { [kind]: 1 }
  const transport = faultTransport(node.transport, {
    seed: 1,
    rates,
    ...options,
  })
  const client = createClient({ transport })
  const ask = (method: string, ...params: unknown[]) =>
    client.request({ method, params } as never, { retryCount: 0 })
  return { ...node, ask, client, faults: transport.faults }
}

async function history(seed: number): Promise<unknown[]> {
  const transport = faultTransport(fakeNode().transport, { seed, delay: 1 })
  const client = createClient({ transport })
  const outcomes: unknown[] = []
  for (let call = 0; call < 200; call++)
    outcomes.push(
      await client
        .request({ method: 'eth_blockNumber' }, { retryCount: 0 })
        .catch((error: Error) => error.name),
    )
  return [outcomes, transport.faults]
}

test('the same seed and the same calls give the same faults', async () => {
  expect(await history(7)).toEqual(await history(7))
  expect(await history(7)).not.toEqual(await history(8))
})

test('by default every fault comes that can, each about as often', async () => {
  const transport = faultTransport(fakeNode().transport, {
    seed: 3,
    delay: 0,
  })
  const client = createClient({ transport })
  for (let call = 0; call < 5_000; call++)
    await client
      .request({ method: 'eth_blockNumber' }, { retryCount: 0 })
      .catch(() => undefined)
  const counts = new Map<string, number>()
  for (const { kind } of transport.faults)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  expect([...counts.keys()].sort()).toEqual([
    'delay',
    'drop',
    'duplicate',
    'http429',
    'http500',
    'http503',
    'malformed',
    'staleHead',
    'truncated',
    'wrongId',
  ])
  for (const count of counts.values()) {
    expect(count).toBeGreaterThan(60)
    expect(count).toBeLessThan(140)
  }
})

test('without faults every answer comes through, and none is counted', async () => {
  const { transport } = fakeNode()
  const quiet = faultTransport(transport, { seed: 1, rates: {} })
  const client = createClient({ transport: quiet })
  expect(await client.request({ method: 'eth_blockNumber' })).toBe('0x64')
  expect(quiet.faults).toEqual([])
})

test('what was done is on record', async () => {
  const { ask, faults } = faulty('http500')
  await ask('eth_chainId').catch(() => undefined)
  await ask('eth_gasPrice').catch(() => undefined)
  expect(faults).toEqual([
    { call: 0, method: 'eth_chainId', kind: 'http500' },
    { call: 1, method: 'eth_gasPrice', kind: 'http500' },
  ])
})

test('a dropped call fails before the node, or only its answer is lost', async () => {
  const { ask, asked } = faulty('drop')
  const errors: unknown[] = []
  for (let call = 0; call < 40; call++)
    errors.push(await ask('eth_sendRawTransaction', '0x').catch((it) => it))
  const lost = errors.filter((error) => error instanceof TimeoutError)
  const cut = errors.filter((error) => error instanceof HttpRequestError)
  expect(lost.length + cut.length).toBe(40)
  expect(lost.length).toBeGreaterThan(5)
  expect(cut.length).toBeGreaterThan(5)
  expect(asked).toHaveLength(lost.length)
  expect(cut[0]).toMatchObject({ details: 'fetch failed', status: undefined })
})

test.each([
  ['http429', 429],
  ['http500', 500],
  ['http503', 503],
] as const)('%s is an HTTP error before the node', async (kind, status) => {
  const { ask, asked } = faulty(kind)
  const failed = ask('eth_chainId')
  await expect(failed).rejects.toMatchObject({
    name: 'HttpRequestError',
    status,
  })
  expect(asked).toEqual([])
})

test('HTTP 429 says when to come back, where that is asked for', async () => {
  const headerOf = async (options: Options) => {
    const error = await faulty('http429', options)
      .ask('eth_chainId')
      .catch((it) => it)
    return (error as HttpRequestError).headers?.get('Retry-After')
  }
  expect(await headerOf({ retryAfter: 2 })).toBe('2')
  expect(await headerOf({})).toBeNull()
})

test('the retries of viem see the faults, each attempt anew', async () => {
  const { transport, asked } = fakeNode()
  const wrapped = faultTransport(
    (config) => transport({ ...config, retryCount: 5 }),
    { seed: 11, rates: { http503: 0.5 } },
  )
  const retried = () => wrapped({ retryCount: 5 })
  const { request } = createClient({ transport: retried })
  for (let call = 0; call < 4; call++)
    expect(await request({ method: 'eth_blockNumber' })).toBe('0x64')
  expect(wrapped.faults.length).toBeGreaterThan(0)
  expect(asked).toHaveLength(4)
})

test('a delay is at most what was asked for, and the answer is right', async () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const { ask, faults } = faulty('delay', { delay: 30 })
  let late = 0
  for (let call = 0; call < 4; call++) {
    const answered = vi.fn()
    const answer = ask('eth_blockNumber').then(answered)
    await vi.advanceTimersByTimeAsync(10)
    if (answered.mock.calls.length === 0) late++
    await vi.advanceTimersByTimeAsync(20)
    expect(answered).toHaveBeenCalledWith('0x64')
    await answer
  }
  expect(late).toBeGreaterThan(0)
  expect(faults).toHaveLength(4)
})

test('a duplicate reaches the node twice and answers once', async () => {
  const { ask, asked } = faulty('duplicate')
  expect(await ask('eth_chainId')).toBe('0x1')
  expect(asked).toHaveLength(2)
})

test('a truncated body fails as a parser does, never with an answer', async () => {
  const { ask, asked } = faulty('truncated')
  for (let call = 0; call < 30; call++)
    await expect(ask('eth_getLogs', {})).rejects.toMatchObject({
      name: 'HttpRequestError',
      cause: expect.any(SyntaxError),
    })
  expect(asked).toHaveLength(30)
})

test.each([
  ['eth_chainId', '0x1'],
  ['eth_getLogs', [{ data: '0x' }, { data: '0x1' }]],
  ['eth_getBlockByNumber', { number: '0x1' }],
  ['eth_getTransactionReceipt', null],
])('a malformed answer to %s is not the right one', async (method, right) => {
  const { transport } = fakeNode({ [method]: right })
  const wrapped = faultTransport(transport, {
    seed: 5,
    rates: { malformed: 1 },
  })
  const client = createClient({ transport: wrapped })
  for (let call = 0; call < 10; call++)
    expect(await client.request({ method } as never)).not.toEqual(right)
})

test('a wrong id brings the answer to an earlier question', async () => {
  const { transport } = fakeNode({ eth_chainId: '0x7a69' })
  const wrapped = faultTransport(transport, {
    seed: 2,
    rates: { wrongId: 0.5 },
  })
  const client = createClient({ transport: wrapped })
  const methods = ['eth_chainId', 'eth_blockNumber'] as const
  const answers: string[] = []
  for (let call = 0; call < 20; call++)
    answers.push(
      await client.request({ method: methods[call % 2] ?? 'eth_chainId' }),
    )
  const wrong = answers.flatMap((answer, call) =>
    answer === (call % 2 ? '0x64' : '0x7a69') ? [] : [call],
  )
  expect(wrong.length).toBeGreaterThan(2)
  const recorded = wrapped.faults.map(({ call }) => call)
  expect(recorded).toEqual(expect.arrayContaining(wrong))
})

test.each([
  ['eth_getBlockByNumber', ['latest', false], ['0x60', false]],
  ['eth_getBalance', ['0xaa', 'latest'], ['0xaa', '0x60']],
  ['eth_getBlockReceipts', ['latest'], ['0x60']],
  ['eth_getLogs', [{}], [{ fromBlock: '0x60', toBlock: '0x60' }]],
  [
    'eth_getLogs',
    [{ fromBlock: '0x1', toBlock: 'latest', address: '0xaa' }],
    [{ fromBlock: '0x1', toBlock: '0x60', address: '0xaa' }],
  ],
])(
  'a stale head answers %s from an older block',
  async (method, params, old) => {
    const { ask, asked } = faulty('staleHead', { staleBlocks: 4 })
    await ask(method, ...params)
    expect(asked.at(-1)).toMatchObject({ method, params: old })
  },
)

test('a stale head is behind, and leaves other questions alone', async () => {
  const { ask, asked, faults } = faulty('staleHead')
  expect(await ask('eth_blockNumber')).toBe('0x61')
  await ask('eth_getBalance', '0xaa', '0x10')
  await ask('eth_getLogs', { blockHash: '0xbb' })
  await ask('eth_chainId')
  expect(faults.map(({ method }) => method)).toEqual(['eth_blockNumber'])
  expect(asked.at(1)).toMatchObject({ params: ['0xaa', '0x10'] })
})

test('another replica answers where there is one', async () => {
  const replica = custom({ request: async () => '0x50' })
  const { ask, asked } = faulty('otherReplica', { replica })
  expect(await ask('eth_blockNumber')).toBe('0x50')
  expect(asked).toEqual([])
  const alone = faulty('otherReplica')
  expect(await alone.ask('eth_blockNumber')).toBe('0x64')
  expect(alone.faults).toEqual([])
})

test('no fault goes around the wrapper, and subscriptions pass', () => {
  const subscribe = () => undefined
  const transport = faultTransport(
    () =>
      createTransport(
        { key: 'x', name: 'X', type: 'x', request: async () => '0x1' as never },
        { send: () => '0x2', subscribe, url: 'ws://127.0.0.1:1' },
      ),
    { seed: 1 },
  )
  const { value } = transport({})
  expect(value).toEqual({ subscribe, url: 'ws://127.0.0.1:1' })
})

test.each([
  [{ drop: -0.1 }, 'rates.drop must be a number from 0 to 1'],
  [{ drop: Number.NaN }, 'rates.drop must be a number from 0 to 1'],
  [{ drop: 0.6, delay: 0.6 }, 'rates must be at most 1 in total'],
])('rates %o are refused', (rates, words) => {
  const { transport } = fakeNode()
  expect(() => faultTransport(transport, { seed: 1, rates })).toThrow(words)
})

test('rates that fill the whole range are taken', () => {
  const rates = { drop: 0.1, delay: 0.2, http500: 0.7 }
  const { transport } = fakeNode()
  expect(faultTransport(transport, { seed: 1, rates }).faults).toEqual([])
})
