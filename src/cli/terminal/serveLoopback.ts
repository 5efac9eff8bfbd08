import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { UsageError } from './errors.js'

/** Reachable from this machine only. */
const host = '127.0.0.1'

/** Most bytes of a request's body. */
const mostBytes = 65_536

export type LoopbackServer = {
  /** Such as `http://127.0.0.1:49152`. */
  origin: string
  close(): Promise<void>
}

/**
 * Serves a handler to browsers on this machine. Refuses requests for other host
 * names, because anybody can make a name lead here, and requests from pages of
 * other origins.
 */
export async function serveLoopback(
  port: number,
  handle: (request: Request) => Promise<Response>,
): Promise<LoopbackServer> {
  const server = createServer((request, response) => {
    reply(request, response, handle).catch(() => response.destroy())
  })
  const origin = `http://${host}:${await listen(server, port)}`
  return {
    origin,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function reply(
  incoming: IncomingMessage,
  response: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const { headers, socket, method = 'GET', url = '/' } = incoming
  const names = [`${host}:${socket.localPort}`, `localhost:${socket.localPort}`]
  const own = headers.host ?? ''
  const refuse = (status: number) => response.writeHead(status).end()
  if (!names.includes(own)) return void refuse(421)
  const isForeign =
    headers.origin !== undefined && headers.origin !== `http://${own}`
  const site = headers['sec-fetch-site'] ?? 'none'
  if (isForeign || site === 'cross-site') return void refuse(403)

  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const body = hasBody ? await readBody(incoming) : null
  if (body === undefined) return void refuse(413)
  // Concatenated: `new URL` would take a path such as `//other.example/` for
  // another host.
  const request = new Request(`http://${own}${url}`, {
    method,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    ),
    body,
    signal: gone.signal,
  })
  const answer = await handle(request)
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (!answer.body) return void response.end()
  response.flushHeaders()
  // If the browser disconnects, this ends the answer's body, too.
  await pipeline(Readable.fromWeb(Object(answer.body)), response)
}

/** Returns `undefined` for a body that is too long. */
async function readBody(
  incoming: IncomingMessage,
): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    const piece = Buffer.from(chunk)
    size += piece.length
    if (size > mostBytes) return undefined
    chunks.push(piece)
  }
  return Buffer.concat(chunks).toString()
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) =>
      reject(Object(error).code === 'EADDRINUSE' ? inUse(port) : error)
    server.once('error', fail).listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    })
  })
}

function inUse(port: number): UsageError {
  return new UsageError(
    `Port ${port} is in use: choose another with --port, or leave it out.`,
  )
}
