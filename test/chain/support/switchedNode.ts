import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Hash, type Hex, keccak256 } from 'viem'
import { onTestFinished } from 'vitest'
import type { Call } from './endpoint.js'

/** An endpoint that a test leads to another node while workers use it. */
export type SwitchedNode = {
  url: string
  /**
   * Leads requests to this node from now on. Resolves once those that came
   * before are answered.
   */
  leadTo(nodeUrl: string): Promise<void>
  /** HTTP requests that this node answered. */
  answered(nodeUrl: string): number
  /** Hashes of the transactions that were sent to this node. */
  sentTo(nodeUrl: string): ReadonlySet<Hash>
}

/** Starts it, for as long as the test runs. */
export async function startSwitchedNode(first: string): Promise<SwitchedNode> {
  let current = first
  const answered = new Map<string, number>()
  const sent = new Map<string, Set<Hash>>()
  const running = new Set<Promise<unknown>>()
  const ask = async (nodeUrl: string, body: string): Promise<string> => {
    const hashes = sent.get(nodeUrl) ?? new Set()
    sent.set(nodeUrl, hashes)
    for (const { method, params } of [JSON.parse(body)].flat() as Call[])
      if (method === 'eth_sendRawTransaction')
        hashes.add(keccak256(String(params[0]) as Hex))
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(nodeUrl, { method: 'POST', body, headers })
    const text = await answer.text()
    answered.set(nodeUrl, (answered.get(nodeUrl) ?? 0) + 1)
    return text
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const asking = ask(current, Buffer.concat(chunks).toString())
    const done = asking.catch(() => undefined)
    running.add(done)
    const text = await done
    running.delete(done)
    if (text === undefined) {
      response.destroy()
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(text)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    leadTo: async (nodeUrl) => {
      current = nodeUrl
      await Promise.all(running)
    },
    answered: (nodeUrl) => answered.get(nodeUrl) ?? 0,
    sentTo: (nodeUrl) => sent.get(nodeUrl) ?? new Set(),
  }
}
