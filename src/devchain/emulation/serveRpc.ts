import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { RpcReply } from './handleRpc.js'
import { type DevSocket, loadWebSockets } from './loadWebSockets.js'

type ServeRpcParameters = {
  port?: number | undefined
  /** Answers an HTTP request, from its body and path. */
  handle(text: string, path: string): Promise<RpcReply>
  /**
   * Called for each new WebSocket. Returns the function that answers its
   * messages.
   */
  connect(socket: DevSocket): Promise<(text: string) => Promise<string>>
}

const host = '127.0.0.1'

const headers = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': 'retry-after',
}

/** Serves JSON-RPC on a port of this machine, over HTTP and WebSockets. */
export async function serveRpc({
  port = 0,
  handle,
  connect,
}: ServeRpcParameters): Promise<{ port: number; close(): Promise<void> }> {
  const { WebSocketServer } = await loadWebSockets()
  const sockets = new Set<DevSocket>()
  const webSockets = new WebSocketServer({ noServer: true })
  const server = createServer((request, response) => {
    void reply(request, response, handle)
  })
  server.on('upgrade', (request, stream, head) =>
    webSockets.handleUpgrade(request, stream, head, (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      // If nobody listened, an error of a connection would end the process. The
      // error needs no other handling, because the connection also emits
      // `close`.
      socket.on('error', () => undefined)
      const connected = connect(socket)
      socket.on('message', async (data) => {
        const answer = await connected
        const text = await answer(data.toString())
        if (socket.readyState === 1) socket.send(text)
      })
    }),
  )
  return {
    port: await listen(server, port),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.terminate()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function reply(
  request: IncomingMessage,
  response: ServerResponse,
  handle: ServeRpcParameters['handle'],
): Promise<void> {
  if (request.method === 'OPTIONS') {
    response.writeHead(204, headers).end()
    return
  }
  if (request.method !== 'POST') {
    response.writeHead(405, headers).end()
    return
  }
  const text = await readBody(request).catch(() => undefined)
  if (text === undefined) return
  const { status, retryAfter, body } = await handle(text, request.url ?? '/')
  response.writeHead(status, {
    ...headers,
    'content-type': /^[[{]/.test(body) ? 'application/json' : 'text/plain',
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
  })
  response.end(body)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    })
  })
}
