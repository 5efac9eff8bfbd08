import { custom, http, webSocket } from 'viem'
import { expect, test } from 'vitest'
import { balance, ok, serve } from '../../../test/unit/support/serveRpc.js'
import { createReadClient } from './createReadClient.js'

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
