import { expect, test } from 'vitest'
import { createReadClient } from '../../../../src/chain/state/createReadClient.js'
import {
  address,
  balance,
  ok,
  type Reply,
  result,
  type Seen,
  serve,
} from '../../support/serveRpc.js'

test('a hundred reads of one tick are one request', async () => {
  const { url, seen } = await serve(ok)
  const client = createReadClient({ url })
  const reads = Array.from({ length: 100 }, (_, i) =>
    i % 2
      ? balance(client)
      : client.getTransactionCount({ address, block: 1n }),
  )
  expect(new Set(await Promise.all(reads))).toEqual(new Set([7n, 7]))
  expect(seen.map(({ calls }) => calls.length)).toEqual([100])
})

test('a lone read is no batch', async () => {
  const { url, seen } = await serve(ok)
  await balance(createReadClient({ url }))
  expect(seen[0]?.isBatch).toBe(false)
  expect(seen[0]?.calls[0]).toEqual({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getBalance',
    params: [address, 'latest'],
  })
})

test('answers in another order find their calls', async () => {
  const { url } = await serve(({ calls }) => ({
    body: JSON.stringify(
      calls.map(({ id }) => ({ id, result: `0x${id}` })).reverse(),
    ),
  }))
  const client = createReadClient({ url })
  const reads = [balance(client), balance(client), balance(client)]
  expect(await Promise.all(reads)).toEqual([1n, 2n, 3n])
})

test('a missing answer is an error of that call alone', async () => {
  const { url } = await serve(({ calls }) => ({
    body: JSON.stringify(calls.slice(1).map(result)),
  }))
  const client = createReadClient({ url, retry: 0 })
  const [first, second] = await Promise.allSettled([
    balance(client),
    balance(client),
  ])
  expect(first).toMatchObject({
    status: 'rejected',
    reason: {
      name: 'NodeError',
      details: { words: 'no answer has the id of the call' },
    },
  })
  expect(second).toEqual({ status: 'fulfilled', value: 7n })
})

test.each([
  [
    'an error object',
    { body: '{"id":null,"error":{"code":-32600,"message":"no batches"}}' },
  ],
  ['HTTP 400', { status: 400, body: 'batch requests are not enabled' }],
  ['HTTP 413', { status: 413, body: '' }],
])(
  'a node that refuses batches with %s is asked one by one from then on',
  async (_, refusal) => {
    const { url, seen } = await serve((one) =>
      one.isBatch ? refusal : ok(one),
    )
    const client = createReadClient({ url })
    expect(await Promise.all([balance(client), balance(client)])).toEqual([
      7n,
      7n,
    ])
    await Promise.all([balance(client), balance(client)])
    expect(seen.map(({ isBatch }) => isBatch)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
  },
)

const withoutId = (code: number, message: string): Reply => ({
  body: JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }),
})

test('an error without an id is that of the one call asked', async () => {
  const { url, seen } = await serve(() => withoutId(-32600, 'no such thing'))
  await expect(balance(createReadClient({ url }))).rejects.toMatchObject({
    retryable: false,
    details: { code: -32600, words: 'no such thing' },
  })
  expect(seen).toHaveLength(1)
})

test('a node too busy for one batch is not taken to refuse batches', async () => {
  const { url, seen } = await serve((one, count) =>
    count === 1 ? withoutId(-32005, 'rate limit exceeded') : ok(one),
  )
  const client = createReadClient({ url })
  const first = await Promise.allSettled([balance(client), balance(client)])
  expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await Promise.all([balance(client), balance(client)])
  expect(seen.map(({ calls }) => calls.length)).toEqual([2, 2])
})

test.each([
  [-32600, 'invalid request'],
  [-32000, 'batches are not served'],
  [-32005, 'batch limit reached'],
])('a batch refused with %i "%s" is sent singly', async (code, message) => {
  const { url, seen } = await serve((one) =>
    one.isBatch ? withoutId(code, message) : ok(one),
  )
  const client = createReadClient({ url })
  await Promise.all([balance(client), balance(client)])
  expect(seen.map(({ isBatch }) => isBatch)).toEqual([true, false, false])
})

const lone = (id: unknown, code: number, message: string): Reply => ({
  body: JSON.stringify([{ jsonrpc: '2.0', id, error: { code, message } }]),
})

test.each<[string, (one: Seen) => Reply]>([
  [
    'a list of one, as Geth gives it',
    ({ calls }) => lone(calls[0]?.id, -32600, 'batch too large'),
  ],
  ['a list of one without id', () => lone(null, -32000, 'no')],
  [
    'HTTP 500',
    () => ({
      ...withoutId(31, 'Batch of more than 1 request is not allowed'),
      status: 500,
    }),
  ],
  ['HTTP 405', () => ({ status: 405, body: '{"error":"no batches here"}' })],
])('a batch refused with %s is sent singly too', async (_, refusal) => {
  const { url, seen } = await serve((one) =>
    one.isBatch ? refusal(one) : ok(one),
  )
  const client = createReadClient({ url })
  const twice = () => Promise.all([balance(client), balance(client)])
  expect(await twice()).toEqual([7n, 7n])
  expect(await twice()).toEqual([7n, 7n])
  expect(seen.map(({ isBatch }) => isBatch)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
})

test('what did not fit into the answer to a batch is asked alone, batches go on', async () => {
  const error = { code: -32003, message: 'response too large' }
  const { url, seen } = await serve((one) =>
    one.isBatch
      ? {
          body: JSON.stringify(
            one.calls.map((call, i) =>
              i ? { jsonrpc: '2.0', id: call.id, error } : result(call),
            ),
          ),
        }
      : ok(one),
  )
  const client = createReadClient({ url })
  const reads = () => Promise.all([1, 2, 3].map(() => balance(client)))
  expect(await reads()).toEqual([7n, 7n, 7n])
  await reads()
  expect(seen.map(({ calls }) => calls.length)).toEqual([3, 1, 1, 3, 1, 1])
})

test('the error of one call in a batch of lost answers is its own', async () => {
  const { url, seen } = await serve(({ calls }) =>
    lone(calls[0]?.id, -32000, 'missing trie node'),
  )
  const client = createReadClient({ url })
  const answers = await Promise.allSettled([balance(client), balance(client)])
  expect(answers.map((one) => Object(one).reason.details.words)).toEqual([
    'missing trie node',
    'no answer has the id of the call',
  ])
  expect(seen).toHaveLength(1)
})

test('a node too busy for a batch may say so under the first id', async () => {
  const { url, seen } = await serve((one, count) =>
    count === 1
      ? {
          body: JSON.stringify({
            id: one.calls[0]?.id,
            error: { code: -32005, message: 'rate limit exceeded' },
          }),
        }
      : ok(one),
  )
  const client = createReadClient({ url })
  await Promise.allSettled([balance(client), balance(client)])
  await Promise.all([balance(client), balance(client)])
  expect(seen.map(({ calls }) => calls.length)).toEqual([2, 2])
})
