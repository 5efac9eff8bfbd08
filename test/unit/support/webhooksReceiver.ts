import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { WebhookPayload } from 'countersign/webhooks'
import { onTestFinished } from 'vitest'
import { type Certificate, createCertificate } from './webhooksCertificate.js'

/** One request as a receiver got it. */
export type Received = {
  path: string
  headers: IncomingHttpHeaders
  text: string
  payload: WebhookPayload
}

export type Receiver = {
  url: string
  /** What its certificate is signed by. */
  ca: string
  port: number
  received: Received[]
  stop(): Promise<void>
}

type Answer = (
  response: ServerResponse,
  received: Received,
  /** From 0. */
  index: number,
) => unknown

/** A server of https on this machine that keeps what it is sent. */
export async function startReceiver(
  answer: Answer = (response) => response.writeHead(204).end(),
  certificate: Certificate = createCertificate(),
): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer(certificate, async (request, response) => {
    const chunks: Buffer[] = []
    response.on('error', () => undefined)
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return
    }
    const { url: path = '', headers } = request
    const text = Buffer.concat(chunks).toString()
    const it = { path, headers, text, payload: JSON.parse(text) }
    received.push(it)
    await answer(response, it, received.length - 1)
  })
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Listens at a port, so this is no path.
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  onTestFinished(stop)
  const url = `https://localhost:${port}/hooks?key=of-the-path`
  return { url, ca: certificate.cert, port, received, stop }
}
