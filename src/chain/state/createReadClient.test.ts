import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { custom, http, webSocket } from 'viem'
import { expect, onTestFinished, test } from 'vitest'
import { createReadClient } from './createReadClient.js'

const address = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

type Call = { id: number; method: string; params: unknown[] }
type Reply = { status?: number; headers?: Record<string, string>; body: string }
type Seen = { calls: Call[]; isBatch: boolean; headers: IncomingHttpHeaders }

/** An HTTP server on loopback that answers as told, and remembers. */
async function serve(reply: (seen: Seen, count: number) => Reply) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body = JSON.parse(text)
    const isBatch = Array.isArray(body)
    const one = {
      calls: isBatch ? body : [body],
      isBatch,
      headers: request.headers,
    }
    seen.push(one)
    const { status = 200, headers = {}, body: answer } = reply(one, seen.length)
    response.writeHead(status, headers).end(answer)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1/secret-key`, seen }
}

const result = ({ id }: Call) => ({ jsonrpc: '2.0', id, result: '0x7' })

const ok = ({ calls, isBatch }: Seen): Reply => ({
  body: JSON.stringify(isBatch ? calls.map(result) : result(calls[0] as Call)),
})

const balance = (client: ReturnType<typeof createReadClient>) =>
  client.getBalance({ address, block: 'latest' })

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

test.each([429, 502, 503, 504])('HTTP %i is asked again', async (status) => {
  const { url, seen } = await serve((one, count) =>
    count === 1
      ? { status, headers: { 'retry-after': '0' }, body: '' }
      : ok(one),
  )
  expect(await balance(createReadClient({ url }))).toBe(7n)
  expect(seen).toHaveLength(2)
})

test.each([400, 401, 403])('HTTP %i is not asked again', async (status) => {
  const { url, seen } = await serve(() => ({ status, body: '' }))
  await expect(balance(createReadClient({ url }))).rejects.toMatchObject({
    name: 'NodeError',
    retryable: false,
    details: { status, method: 'eth_getBalance' },
  })
  expect(seen).toHaveLength(1)
})

test.each([-32600, -32601, -32602])(
  'error %i is not asked again',
  async (code) => {
    const { url, seen } = await serve(({ calls }) => ({
      body: JSON.stringify({
        id: calls[0]?.id,
        error: { code, message: 'no' },
      }),
    }))
    await expect(balance(createReadClient({ url }))).rejects.toMatchObject({
      details: { code, words: 'no' },
    })
    expect(seen).toHaveLength(1)
  },
)

test('Retry-After is waited for', async () => {
  const { url } = await serve((one, count) =>
    count === 1
      ? { status: 429, headers: { 'retry-after': '1' }, body: '' }
      : ok(one),
  )
  const begun = Date.now()
  await balance(createReadClient({ url }))
  expect(Date.now() - begun).toBeGreaterThanOrEqual(990)
})

test('a transaction is never sent twice', async () => {
  const { url, seen } = await serve(() => ({ status: 503, body: '' }))
  const client = createReadClient({ url })
  const sent = client.request({
    method: 'eth_sendRawTransaction',
    params: ['0x01'],
  })
  await expect(sent).rejects.toThrow()
  expect(seen).toHaveLength(1)
})

test.each([
  ['truncated', '{"jsonrpc":"2.0","id":1,"res'],
  ['not JSON', '<html>'],
  ['without result', '{"jsonrpc":"2.0","id":1}'],
  ['for another id', '{"jsonrpc":"2.0","id":9,"result":"0x1"}'],
  ['of a wrong type', '{"jsonrpc":"2.0","id":1,"result":7}'],
  ['null', 'null'],
])(
  'a body that is %s is a typed error with the host and no key',
  async (_, body) => {
    const { url } = await serve(() => ({ body }))
    const error = await balance(createReadClient({ url, retry: 0 })).catch(
      (e) => e,
    )
    expect(error.name).toMatch(/^Node(Answer)?Error$/)
    expect(error.details).toMatchObject({
      method: 'eth_getBalance',
      host: new URL(url).host,
    })
    expect(JSON.stringify(error) + error.stack).not.toContain('secret-key')
  },
)

test('a slow node is given up on', async () => {
  const { url } = await serve(() => ({ body: '' }))
  const slow = createReadClient({
    url: url.replace(/:\d+/, ':1'),
    retry: 0,
    timeout: 50,
  })
  await expect(balance(slow)).rejects.toMatchObject({
    name: 'NodeError',
    retryable: true,
  })
})

test('the words of a node are passed on without addresses and long hex', async () => {
  const message = `upstream https://node/v1/secret-key refused 0x${'ab'.repeat(65)}`
  const { url } = await serve(({ calls }) => ({
    body: JSON.stringify({
      id: calls[0]?.id,
      error: { code: -32000, message },
    }),
  }))
  await expect(balance(createReadClient({ url }))).rejects.toMatchObject({
    details: { words: 'upstream (url) refused 0x…' },
  })
})

test('headers go along', async () => {
  const { url, seen } = await serve(ok)
  await balance(createReadClient({ url, headers: { 'x-api-key': 'k' } }))
  expect(seen[0]?.headers['x-api-key']).toBe('k')
})

test('any viem transport serves', async () => {
  const transport = custom({ request: async () => '0x7' })
  expect(await balance(createReadClient({ transport }))).toBe(7n)
})

test('another transport is asked again by the same rules', async () => {
  const { url, seen } = await serve((one, count) =>
    count < 3
      ? { status: 503, headers: { 'retry-after': '0' }, body: '' }
      : ok(one),
  )
  expect(await balance(createReadClient({ transport: http(url) }))).toBe(7n)
  expect(seen).toHaveLength(3)
})

test.each([403, 400])(
  'another transport is not asked again after HTTP %i',
  async (status) => {
    const { url, seen } = await serve(() => ({ status, body: '' }))
    const client = createReadClient({ transport: http(url) })
    await expect(balance(client)).rejects.toMatchObject({
      details: { status, host: new URL(url).host },
    })
    expect(seen).toHaveLength(1)
  },
)

test('another transport keeps its own features', () => {
  const client = createReadClient({ transport: webSocket('ws://127.0.0.1:1') })
  expect(client.transport.type).toBe('webSocket')
  expect(client.transport).toHaveProperty('subscribe')
})

test.each([
  {},
  { url: 'nowhere' },
  { url: 'localhost:8545' },
  { url: 'ws://127.0.0.1:8545' },
])('%o is no endpoint', (parameters) => {
  expect(() => createReadClient(parameters)).toThrow('url must be')
})

test.each([
  ['batch', Number.NaN],
  ['retry', Number.NaN],
  ['timeout', Number.NaN],
  ['timeout', 0],
  ['timeout', Number.POSITIVE_INFINITY],
  ['timeout', '5000'],
])('%s of %o is refused', (field, value) => {
  const parameters = { url: 'http://127.0.0.1:1', [field]: value }
  expect(() => createReadClient(parameters)).toThrow(
    expect.objectContaining({
      name: 'InvalidFieldError',
      details: expect.objectContaining({ field }),
    }),
  )
})

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

test.each([
  ['{"error":"daily quota reached"}', 'daily quota reached'],
  ['{"message":"daily quota reached","code":7}', 'daily quota reached'],
  ['daily quota reached\n', 'daily quota reached'],
  ['no route for /v1/secret-key', 'no route for /v1/…'],
  ['<html>daily quota reached</html>', 'HTTP 400'],
  ['', 'HTTP 400'],
])('of HTTP 400 with %o the words are "%s"', async (body, words) => {
  const { url } = await serve(() => ({ status: 400, body }))
  await expect(balance(createReadClient({ url }))).rejects.toMatchObject({
    details: { words, status: 400 },
  })
})

test.each([
  ['user:p%40ss%c3%a9', 'user:p@ssé'],
  ['key', 'key:'],
  ['100%:x', '100%:x'],
])(
  'credentials in a URL, as in %s, go along as a header',
  async (given, pair) => {
    const { url, seen } = await serve(ok)
    const client = createReadClient({ url: url.replace('//', `//${given}@`) })
    expect(await balance(client)).toBe(7n)
    const basic = `Basic ${Buffer.from(pair).toString('base64')}`
    expect(seen[0]?.headers.authorization).toBe(basic)
  },
)

test('a timeout may be a fraction', async () => {
  const { url } = await serve(ok)
  expect(await balance(createReadClient({ url, timeout: 9999.5 }))).toBe(7n)
})

test('a bigint among the parameters of a call is sent as a quantity', async () => {
  const { url, seen } = await serve(ok)
  const client = createReadClient({ url })
  const odd = client.request({ method: 'eth_odd', params: [10n] } as never)
  expect(await Promise.all([odd, balance(client)])).toEqual(['0x7', 7n])
  expect(seen[0]?.calls[0]?.params).toEqual(['0xa'])
})
