import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReadClient } from 'countersign/reads'
import {
  type Client,
  createClient,
  custom,
  fallback,
  http,
  webSocket,
} from 'viem'
import { expect, onTestFinished, test } from 'vitest'
import { openLogSocket } from '../../../../src/chain/logs/openLogSocket.js'
import { tidy } from '../../../../src/chain/rpc/errors.js'
import { hideKeys } from '../../../../src/chain/rpc/hideKeys.js'
import { requestNode } from '../../../../src/chain/rpc/requestNode.js'
import { redact } from '../../../../src/core/redact.js'
import { loadWebSockets } from '../../../../src/devchain/emulation/loadWebSockets.js'

const key = 'Kq7x2Z'

/** A node that echoes in its error whatever it was asked with. */
async function startEcho(): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { id } = JSON.parse(Buffer.concat(chunks).toString())
    const { url = '', headers } = request
    const { authorization = '' } = headers
    const pair = Buffer.from(authorization.slice(6), 'base64').toString()
    const seen = [url, decodeURIComponent(url), JSON.stringify(headers), pair]
    const message = `nonce too low for ${seen.join(' ')}`
    response.setHeader('content-type', 'application/json')
    const error = { code: -32000, message }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  // Listens at a port, so this is no path.
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const places: Record<
  string,
  (host: string) => { url: string; headers?: Record<string, string> }
> = {
  'the path': (host) => ({ url: `http://${host}/v2/${key}` }),
  'an encoded path': (host) => ({ url: `http://${host}/v2/${key}%2F%20%2b` }),
  'a path that is encoded on its way': (host) => ({
    url: `http://${host}/v2/${key} ü`,
  }),
  'the query': (host) => ({ url: `http://${host}/?apikey=${key}&x=1` }),
  'the user': (host) => ({ url: `http://${key}@${host}/` }),
  'the password': (host) => ({ url: `http://user:${key}@${host}/` }),
  'a header': (host) => ({
    url: `http://${host}/`,
    headers: { 'x-api-key': key },
  }),
  'a bearer token': (host) => ({
    url: `http://${host}/`,
    headers: { authorization: `Bearer ${key}` },
  }),
}

const clients: Record<
  string,
  (url: string, headers: Record<string, string>) => Client
> = {
  'viem http': (url, headers) =>
    createClient({ transport: http(url, { fetchOptions: { headers } }) }),
  'viem http with a Headers object': (url, headers) =>
    createClient({
      transport: http(url, {
        fetchOptions: { headers: new Headers(headers) },
      }),
    }),
  'viem fallback': (url, headers) =>
    createClient({
      transport: fallback([
        http(url, { fetchOptions: { headers }, retryCount: 0 }),
        http(url, { fetchOptions: { headers }, retryCount: 0 }),
      ]),
    }),
  'a read client of a URL': (url, headers) =>
    createReadClient({ url, headers }),
  'a read client over viem': (url, headers) =>
    createReadClient({ transport: http(url, { fetchOptions: { headers } }) }),
  'a read client over a fallback': (url, headers) =>
    createReadClient({
      transport: fallback([http(url, { fetchOptions: { headers } })]),
    }),
}

/** All that an error shows. */
const shown = (error: unknown) =>
  JSON.stringify([error, String(error), Object(error).details])

const rows = Object.entries(clients).flatMap(([kind, create]) =>
  Object.entries(places).map(
    ([place, addressOf]) => [kind, place, create, addressOf] as const,
  ),
)

test.each(rows)(
  'an error of %s shows no key of %s',
  async (_, __, create, addressOf) => {
    const { url, headers = {} } = addressOf(await startEcho())
    const error = await requestNode(
      create(url, headers),
      'eth_chainId',
      [],
    ).catch((thrown: unknown) => thrown)
    const base64 = Buffer.from(`user:${key}`).toString('base64')
    expect(shown(error)).toContain('nonce too low')
    expect(shown(error).toLowerCase()).not.toContain(key.toLowerCase())
    expect(shown(error)).not.toContain(base64)
  },
)

test.each([
  ['the path', (host: string) => `ws://${host}/v2/${key}`],
  ['the query', (host: string) => `ws://${host}/?apikey=${key}`],
])('an error of a WebSocket shows no key of %s', async (_, addressOf) => {
  const { WebSocketServer } = await loadWebSockets()
  const upgrades = new WebSocketServer({ noServer: true })
  const server = createServer()
  server.on('upgrade', (request, socket, head) =>
    upgrades.handleUpgrade(request, socket, head, (one) => {
      one.on('message', (data) => {
        const { id } = JSON.parse(data.toString())
        const message = `nonce too low for ${request.url}`
        const error = { code: -32000, message }
        one.send(JSON.stringify({ jsonrpc: '2.0', id, error }))
      })
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = addressOf(`127.0.0.1:${port}`)
  const transport = webSocket(url, { retryCount: 0, reconnect: false })
  const clients: Client[] = [
    createClient({ transport }),
    createClient({ transport: fallback([transport]) }),
    createReadClient({ transport }),
  ]
  const errors: string[] = []
  for (const client of clients)
    await requestNode(client, 'eth_chainId', []).catch((error: unknown) =>
      errors.push(shown(error)),
    )
  const errorOfLogs = await new Promise<unknown>((resolve) => {
    const stop = openLogSocket(url, { address: [], topics: [] } as never, {
      onPending: () => undefined,
      onHead: () => undefined,
      onOpen: () => undefined,
      onLost: () => undefined,
      onError: (error) => {
        stop()
        resolve(error)
      },
    })
  })
  errors.push(shown(errorOfLogs))
  expect(errors).toHaveLength(4)
  for (const text of errors) {
    expect(text).not.toContain(key)
    expect(text).toContain('nonce too low')
  }
  const rpc = await createClient({ transport }).transport.getRpcClient()
  rpc.close()
  server.close()
})

test('a client whose headers cannot be seen shows no mixed letters and digits', async () => {
  const request = async () => {
    throw Object.assign(new Error(`nonce too low, ${key} of 0x12ab`), {
      code: -32000,
    })
  }
  const client = createClient({
    transport: custom({ request }, { retryCount: 0 }),
  })
  const error = await requestNode(client, 'eth_chainId', []).catch(
    (thrown: unknown) => thrown,
  )
  expect(String(error)).toContain('nonce too low, … of 0x12ab')
})

test.each([
  ['FiatTokenV2: invalid signature'],
  ['ERC20Permit: expired deadline'],
  ['EIP1559 is not active, EIP-1559 that is'],
  ['header not found for block 0x12ab34cd'],
  ['insufficient funds for 0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
  ['eth_getLogs is limited to a 10000 block range'],
])('%s stays as it is', (words) => {
  expect(tidy(words)).toBe(words)
})

test.each([
  ['bytes', (bytes: Buffer) => `[${[...bytes].join(',')}]`],
  ['bytes with spaces', (bytes: Buffer) => [...bytes].join(', ')],
  [
    'hex bytes',
    (bytes: Buffer) => [...bytes].map((it) => `0x${it.toString(16)}`).join(' '),
  ],
  [
    'hex bytes with colons',
    (bytes: Buffer) => bytes.toString('hex').match(/../g)?.join(':') ?? '',
  ],
  [
    'groups of 8 digits',
    (bytes: Buffer) => bytes.toString('hex').match(/.{8}/g)?.join(' ') ?? '',
  ],
  [
    'groups of 8 digits in upper case',
    (bytes: Buffer) =>
      bytes.toString('hex').toUpperCase().match(/.{8}/g)?.join('_') ?? '',
  ],
  [
    'words of 32 bits',
    (bytes: Buffer) =>
      bytes
        .toString('hex')
        .match(/.{8}/g)
        ?.map((it) => `0x${it}`)
        .join(',') ?? '',
  ],
])('a signature as %s is not shown', (_, write) => {
  const bytes = Buffer.from(
    Array.from({ length: 65 }, (_, at) => (at * 151 + 77) % 256),
  )
  const text = redact(`invalid signature ${write(bytes)} in block 7`)
  const parts = text.match(/[\da-z+/]+/gi) ?? []
  // Words, and at most the ends of what was taken out.
  expect(text.length).toBeLessThan(60)
  expect(parts.slice(0, 2)).toEqual(['invalid', 'signature'])
})

test.each([
  ['path', 'http://node.example/v2/abc', 'no abc at /v2/abc', 'no … at /v2/…'],
  ['user', 'http://abc@node.example/', 'no abc', 'no …'],
  ['password', 'http://u:abc@node.example/', 'no abc', 'no …'],
  ['query', 'http://node.example/?key=abc', 'no abc', 'no …'],
])(
  'a key of three letters in the %s is hidden, as a word of its own',
  (_, url, words, shown) => {
    expect(hideKeys(words, { url })).toBe(shown)
    expect(hideKeys('abcd xabc', { url })).toBe('abcd xabc')
  },
)

test.each(['http://node.example/base/rpc/v1', 'http://node.example/'])(
  'usual words in %s are not hidden',
  (url) => {
    const words = 'rpc v1 of base is over its rate limit'
    expect(hideKeys(words, { url })).toBe(words)
  },
)

test('bytes of a signature that a node echoes are not shown, even one that ends a line', () => {
  const secret = '\x8b\x92A(\nzq\x07'
  expect(tidy(`bad data ${secret} of payer`)).toBe('bad data … of payer')
})
