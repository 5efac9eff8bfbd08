import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import { wait } from '../../../src/core/wait.js'

/** A load balancer that never sends a request twice. */
export type RoundRobin = {
  url: string
  /** True if the process at this port said it is ready when it was last asked. */
  isReady(port: number): boolean
  /** Requests that it could not hand on, with why. */
  lost: readonly string[]
  stop(): Promise<void>
}

/**
 * Sends each request to the next process that said it is ready when it was last
 * asked, over connections that stay open.
 *
 * @param every milliseconds between two probes of a process.
 */
export async function startRoundRobin(
  ports: readonly number[],
  every: number,
): Promise<RoundRobin> {
  const ready = new Set<number>()
  const lost: string[] = []
  const agent = new Agent({ keepAlive: true })
  const stopping = new AbortController()
  const watch = async (port: number) => {
    while (!stopping.signal.aborted) {
      const url = `http://127.0.0.1:${port}/payments/readyz`
      const signal = AbortSignal.timeout(5_000)
      const { ok } = await fetch(url, { signal }).catch(() => ({ ok: false }))
      if (ok) ready.add(port)
      else ready.delete(port)
      await wait(every, stopping.signal)
    }
  }
  const watching = ports.map(watch)
  let turn = 0
  const hand = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const able = ports.filter((port) => ready.has(port))
    const port = able[turn++ % able.length]
    const { method, url: path, headers } = incoming
    const lose = (why: string) => {
      if (outgoing.writableEnded || outgoing.destroyed) return
      lost.push(`${method} ${path}: ${why}`)
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(502).end()
    }
    if (port === undefined) return lose('no process is ready')
    const place = { port, host: '127.0.0.1', agent }
    const onward = request({ ...place, method, path, headers }, (answer) => {
      const { statusCode = 0, headers: sent } = answer
      const { connection: _, ...kept } = sent
      outgoing.writeHead(statusCode, kept)
      outgoing.flushHeaders()
      pipeline(answer, outgoing, () => {
        if (!answer.complete && !stopping.signal.aborted)
          lost.push(`${method} ${path}: the answer was cut off`)
      })
    })
    onward.on('error', ({ message }) => lose(message))
    outgoing.on('close', () => {
      if (!outgoing.writableEnded) onward.destroy()
    })
    incoming.pipe(onward)
  }
  const server = createServer(hand)
  // Longer than any buyer waits, who would send into a closing connection.
  server.keepAliveTimeout = 120_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/payments`,
    isReady: (one) => ready.has(one),
    lost,
    stop: async () => {
      stopping.abort()
      await Promise.all(watching)
      server.close()
      server.closeAllConnections()
      agent.destroy()
    },
  }
}
