import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export type Call = {
  jsonrpc: string
  id: number
  method: string
  params: unknown[]
}

/** An HTTP request as it came in. */
export type Post = {
  method: string | undefined
  contentType: string | undefined
  body: unknown
}

type Refusal = { status: number; body: object }

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/**
 * An endpoint in front of a chain that refuses some requests and remembers all.
 * Lives as long as the test that starts it.
 */
export async function startEndpoint(
  url: string,
  refuse: (
    calls: readonly Call[],
  ) => Refusal | undefined | Promise<undefined> = () => undefined,
): Promise<{ url: string; asked: string[][]; posts: Post[] }> {
  const asked: string[][] = []
  const posts: Post[] = []
  const server = createServer(async (request, response) => {
    const text = await textOf(request)
    const body: Call | Call[] = JSON.parse(text)
    const calls = [body].flat()
    const contentType = request.headers['content-type']
    asked.push(calls.map(({ method }) => method))
    posts.push({ method: request.method, contentType, body })
    const refused = await refuse(calls)
    if (refused) response.statusCode = refused.status
    response.setHeader('content-type', 'application/json')
    response.end(
      refused
        ? JSON.stringify({ jsonrpc: '2.0', id: calls[0]?.id, ...refused.body })
        : await forward(url, text),
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, asked, posts }
}

async function forward(url: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', body, headers })
  return answer.text()
}
