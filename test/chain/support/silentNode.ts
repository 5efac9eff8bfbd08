import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Call } from './endpoint.js'

/**
 * An endpoint in front of a chain that, once told, takes requests with some
 * methods and never answers them. Lives as long as the test that starts it.
 */
export async function startSilentNode(chainUrl: string): Promise<{
  url: string
  /** From now on nothing with such a method is answered. */
  silence(isSilent: (method: string) => boolean): void
  /** Requests whose senders wait for an answer. */
  waiting(): number
}> {
  let isSilent = (_: string) => false
  let waiting = 0
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const calls: Call[] = [JSON.parse(body)].flat()
    if (calls.some(({ method }) => isSilent(method))) {
      waiting++
      request.socket.once('close', () => waiting--)
      return
    }
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(chainUrl, { method: 'POST', body, headers })
    response.setHeader('content-type', 'application/json')
    response.end(await answer.text())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    silence: (next) => {
      isSilent = next
    },
    waiting: () => waiting,
  }
}
