import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { createReadClient } from '../../../src/chain/state/createReadClient.js'

export const address = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

type Call = { id: number; method: string; params: unknown[] }
export type Reply = {
  status?: number
  headers?: Record<string, string>
  body: string
}
export type Seen = {
  calls: Call[]
  isBatch: boolean
  headers: IncomingHttpHeaders
}

/** An HTTP server on loopback that answers as told, and remembers. */
export async function serve(reply: (seen: Seen, count: number) => Reply) {
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

export const result = ({ id }: Call) => ({ jsonrpc: '2.0', id, result: '0x7' })

export const ok = ({ calls, isBatch }: Seen): Reply => ({
  body: JSON.stringify(isBatch ? calls.map(result) : result(calls[0] as Call)),
})

export const balance = (client: ReturnType<typeof createReadClient>) =>
  client.getBalance({ address, block: 'latest' })
