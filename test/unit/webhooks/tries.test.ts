import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { lookupHost } from '../../../src/webhooks/targets/findAddresses.js'
import { parseTargets } from '../../../src/webhooks/targets/parseTargets.js'
import {
  type PostedWebhook,
  postWebhook,
} from '../../../src/webhooks/targets/postWebhook.js'
import type { WebhookTarget } from '../../../src/webhooks/targets/types.js'
import { createCertificate } from '../support/webhooksCertificate.js'
import { startReceiver } from '../support/webhooksReceiver.js'
import { createSecret, quickTools } from '../support/webhooksRun.js'

const message = { id: 'evt_1', body: '{"type":"order.captured"}' }

/** Tries once, with a host that may be private. */
async function tryOnce(
  fields: Pick<WebhookTarget, 'url'> & Partial<WebhookTarget>,
  tools: Partial<typeof quickTools> = {},
): Promise<PostedWebhook> {
  const [target] = await parseTargets([
    {
      name: 'test',
      secrets: [createSecret()],
      privateHosts: fields.privateHosts ?? ['localhost', 'receiver.example'],
      url: fields.url,
      ca: fields.ca,
    },
  ])
  if (!target) throw new Error('no target')
  return postWebhook(target, message, { ...quickTools, ...tools })
}

test.each([200, 201, 202, 204, 299])('%i is a success', async (status) => {
  const receiver = await startReceiver((response) =>
    response.writeHead(status).end(),
  )
  expect(await tryOnce(receiver)).toEqual({ ok: true, status })
})

test.each([400, 401, 404, 410, 418, 429, 500, 502, 503, 599])(
  '%i is a failure',
  async (status) => {
    const receiver = await startReceiver((response) =>
      response.writeHead(status).end('words'),
    )
    expect(await tryOnce(receiver)).toEqual({
      ok: false,
      reason: 'statusRefused',
      status,
      retryAfter: undefined,
    })
  },
)

test('a receiver may ask for a pause', async () => {
  const receiver = await startReceiver((response) =>
    response.writeHead(429, { 'retry-after': '120' }).end(),
  )
  expect(await tryOnce(receiver)).toMatchObject({ retryAfter: 120_000 })
})

test.each([300, 301, 302, 303, 304, 307, 308])(
  'a redirect by %i is a failure, and not followed',
  async (status) => {
    const elsewhere = await startReceiver()
    for (const location of [
      'http://169.254.169.254/latest/meta-data/',
      elsewhere.url,
      '/again',
    ]) {
      const receiver = await startReceiver((response) =>
        response.writeHead(status, { location }).end(),
      )
      expect(await tryOnce(receiver)).toMatchObject({
        ok: false,
        reason: 'redirected',
        status,
      })
      expect(receiver.received).toHaveLength(1)
    }
    expect(elsewhere.received).toEqual([])
  },
)

test('what is sent is a post of JSON that tells its own length', async () => {
  const receiver = await startReceiver()
  await tryOnce(receiver)
  const [{ headers, text, path } = { headers: {}, text: '', path: '' }] =
    receiver.received
  expect(text).toBe(message.body)
  expect(path).toBe('/hooks?key=of-the-path')
  expect(headers).toEqual({
    'content-type': 'application/json',
    'content-length': String(message.body.length),
    'user-agent': 'countersign',
    'webhook-id': 'evt_1',
    'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    'webhook-signature': expect.stringMatching(/^v1,[\w+/]{43}=$/),
    host: `localhost:${receiver.port}`,
    connection: 'close',
  })
})

/** Writes for as long as somebody listens; whether all was taken. */
async function flood(response: ServerResponse): Promise<boolean> {
  const chunk = Buffer.alloc(65_536)
  const closed = once(response, 'close')
  for (let written = 0; written < 2 ** 30; written += chunk.length) {
    if (response.destroyed) return false
    if (!response.write(chunk))
      await Promise.race([once(response, 'drain'), closed])
  }
  return true
}

test('a body without end is not read', async () => {
  let taken: Promise<boolean> | undefined
  const receiver = await startReceiver((response) => {
    taken = flood(response.writeHead(200))
  })
  expect(await tryOnce(receiver)).toEqual({ ok: true, status: 200 })
  expect(await taken).toBe(false)
})

test('a body that never comes is not waited for', async () => {
  let closed: Promise<unknown> | undefined
  const receiver = await startReceiver((response) => {
    closed = once(response, 'close')
    response.writeHead(200, { 'content-length': '1000' }).write('a')
  })
  expect(await tryOnce(receiver)).toEqual({ ok: true, status: 200 })
  await closed
})

const timedOut = { ok: false, reason: 'timedOut' } as const
const brokenOff = { ok: false, reason: 'connectionFailed' } as const

test('a receiver that never answers is given up, and the connection closed', async () => {
  let closed: Promise<unknown> | undefined
  const receiver = await startReceiver((response) => {
    closed = once(response, 'close')
  })
  expect(await tryOnce(receiver, { timeout: 300 })).toEqual(timedOut)
  // The time may have been over before the request was there.
  await closed
})

test('a receiver that only ever announces an answer is given up', async () => {
  const receiver = await startReceiver((response) => {
    const timer = setInterval(() => response.writeProcessing(), 5)
    response.on('close', () => clearInterval(timer))
  })
  expect(await tryOnce(receiver, { timeout: 300 })).toEqual(timedOut)
})

test('a host that is looked up for ever is given up', async () => {
  const lookup = () => new Promise<never>(() => undefined)
  const url = 'https://receiver.example'
  expect(await tryOnce({ url }, { lookup, timeout: 30 })).toEqual(timedOut)
})

test('a host that is found too late is not connected to', async () => {
  const receiver = await startReceiver()
  let answer: (addresses: string[]) => void = () => undefined
  const lookup = () =>
    new Promise<string[]>((resolve) => {
      answer = resolve
    })
  expect(await tryOnce(receiver, { lookup, timeout: 30 })).toEqual(timedOut)
  answer(['127.0.0.1'])
  // Whoever connected would be before this one.
  expect(await tryOnce(receiver)).toEqual({ ok: true, status: 204 })
  expect(receiver.received).toHaveLength(1)
})

/** A server of plain connections. */
async function listen(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    answer(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return `https://localhost:${Object(server.address()).port}/`
}

test('a server that never says hello is given up', async () => {
  const url = await listen(() => undefined)
  expect(await tryOnce({ url }, { timeout: 100 })).toEqual(timedOut)
})

test('a connection that is reset is a failure', async () => {
  const url = await listen((socket) => socket.resetAndDestroy())
  expect(await tryOnce({ url })).toEqual(brokenOff)
})

test('a server that speaks no TLS is a failure', async () => {
  const url = await listen((socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
  )
  expect(await tryOnce({ url })).toEqual(brokenOff)
})

test('a connection that breaks off before the answer is a failure', async () => {
  const receiver = await startReceiver((response) => response.socket?.destroy())
  expect(await tryOnce(receiver)).toEqual(brokenOff)
})

test('a port nobody listens at is a failure', async () => {
  const receiver = await startReceiver()
  await receiver.stop()
  expect(await tryOnce(receiver)).toEqual(brokenOff)
})

/** A server of TLS that says this, whatever it is asked. */
async function listenTls(words: string): Promise<{ url: string; ca: string }> {
  const certificate = createCertificate()
  const server = createTlsServer(certificate, (socket) => {
    socket.on('error', () => undefined)
    socket.write(words)
  })
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `https://localhost:${Object(server.address()).port}/`
  return { url, ca: certificate.cert }
}

test.each([
  ['no HTTP', 'hello\r\n\r\n'],
  ['a header without end', `HTTP/1.1 200 OK\r\na: ${'b'.repeat(200_000)}`],
  ['headers without end', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(90_000)}`],
])('a server that answers with %s is a failure', async (_, words) => {
  expect(await tryOnce(await listenTls(words))).toEqual(brokenOff)
})

const uncertain = { ok: false, reason: 'certificateRefused' } as const

test('a certificate of another host is refused', async () => {
  const receiver = await startReceiver(
    undefined,
    createCertificate({ hosts: ['other.example', '127.0.0.1'] }),
  )
  expect(await tryOnce(receiver)).toEqual(uncertain)
  expect(receiver.received).toEqual([])
})

test('a certificate that has run out is refused', async () => {
  const until = new Date(Date.now() - 60_000)
  const receiver = await startReceiver(undefined, createCertificate({ until }))
  expect(await tryOnce(receiver)).toEqual(uncertain)
})

test('a certificate of no known authority is refused', async () => {
  const { url } = await startReceiver()
  const { cert } = createCertificate()
  expect(await tryOnce({ url })).toEqual(uncertain)
  expect(await tryOnce({ url, ca: cert })).toEqual(uncertain)
})

test('an environment that trusts everyone changes nothing', async () => {
  const { NODE_TLS_REJECT_UNAUTHORIZED } = process.env
  const { url } = await startReceiver()
  try {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    expect(await tryOnce({ url })).toEqual(uncertain)
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    Object.assign(process.env, {
      ...(NODE_TLS_REJECT_UNAUTHORIZED && { NODE_TLS_REJECT_UNAUTHORIZED }),
    })
  }
})

test('a certificate may be for an address', async () => {
  const receiver = await startReceiver(
    undefined,
    createCertificate({ hosts: ['127.0.0.1'] }),
  )
  const url = `https://127.0.0.1:${receiver.port}/`
  const privateHosts = ['127.0.0.1']
  expect(await tryOnce({ ...receiver, url, privateHosts })).toEqual({
    ok: true,
    status: 204,
  })
})

test('a host that resolves to this machine is refused unless it is named', async () => {
  const receiver = await startReceiver()
  const refused = { ok: false, reason: 'addressRefused' } as const
  expect(await tryOnce({ ...receiver, privateHosts: [] })).toEqual(refused)
  const privateHosts = ['receiver.example', '127.0.0.1', '*', 'ocalhost']
  expect(await tryOnce({ ...receiver, privateHosts })).toEqual(refused)
  expect(receiver.received).toEqual([])
})

test('the connection goes to the address that was checked, by no other question', async () => {
  const certificate = createCertificate({ hosts: ['receiver.example'] })
  const receiver = await startReceiver(undefined, certificate)
  const asked: string[] = []
  const lookup = async (host: string) => {
    asked.push(host)
    // A name that changes its answer between check and connection.
    return asked.length === 1 ? ['127.0.0.1'] : ['169.254.169.254']
  }
  // The system itself knows no such host.
  const url = `https://receiver.example:${receiver.port}/`
  const posted = await tryOnce({ ...receiver, url }, { lookup })
  expect(posted).toEqual({ ok: true, status: 204 })
  expect(asked).toEqual(['receiver.example'])
  expect(receiver.received).toHaveLength(1)
})

test('the address the system has for a host does not matter', async () => {
  const receiver = await startReceiver()
  // Of this machine too, but nobody listens there.
  const lookup = async () => ['127.0.0.2']
  expect(await tryOnce(receiver, { lookup })).toEqual(brokenOff)
  expect(receiver.received).toEqual([])
})

test('each try looks the host up again', async () => {
  const certificate = createCertificate({ hosts: ['receiver.example'] })
  const receiver = await startReceiver(undefined, certificate)
  const url = `https://receiver.example:${receiver.port}/`
  const answers = [['127.0.0.1'], ['10.0.0.1', '127.0.0.1'], []]
  const lookup = async () => answers.shift() ?? []
  const [target] = await parseTargets([
    { name: 'test', url, secrets: [createSecret()], ca: receiver.ca },
  ])
  if (!target) throw new Error('no target')
  const tools = { ...quickTools, lookup }
  const named = { ...target, isPrivateAllowed: true }
  const results = [
    await postWebhook(named, message, tools),
    await postWebhook(target, message, tools),
    await postWebhook(target, message, tools),
  ]
  expect(results.map((it) => (it.ok ? 'ok' : it.reason))).toEqual([
    ...['ok', 'addressRefused', 'hostUnknown'],
  ])
})

test('a host that is reached by one of its addresses is reached', async () => {
  const receiver = await startReceiver()
  const lookup = async () => ['127.0.0.2', '::1', '127.0.0.1']
  expect(await tryOnce(receiver, { lookup })).toEqual({ ok: true, status: 204 })
})

test('a lookup that fails is a host that is unknown', async () => {
  const lookup = () => Promise.reject(new Error('no such host'))
  expect(
    await tryOnce({ url: 'https://receiver.example' }, { lookup }),
  ).toEqual({ ok: false, reason: 'hostUnknown' })
  await expect(lookupHost('a host')).rejects.toThrow()
  expect(await lookupHost('127.0.0.1')).toEqual(['127.0.0.1'])
})
