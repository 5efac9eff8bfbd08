import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { setTimeout } from 'node:timers/promises'

type ServeUntilParameters = {
  port: number
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal
  /**
   * Milliseconds from then on in which requests still come, because the load
   * balancer has not asked `/readyz` yet.
   */
  drain: number
}

/** Serves until the process stops, and returns after the last answer. */
export async function serveUntil(
  listener: RequestListener,
  { port, stopping, drain }: ServeUntilParameters,
): Promise<void> {
  const server = createServer((request, response) => {
    // Has a proxy send its next request over another connection.
    if (stopping.aborted) response.setHeader('connection', 'close')
    listener(request, response)
  })
  // Longer than a proxy keeps an idle connection, 60 seconds as a rule: else the
  // next request could come while this end closes the connection.
  server.keepAliveTimeout = 75_000
  server.listen(port)
  await once(server, 'listening')
  if (!stopping.aborted) await once(stopping, 'abort')
  await setTimeout(drain)
  server.close()
  await once(server, 'close')
}
