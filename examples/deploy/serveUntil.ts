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
    // Without this, the next request could come while the connection closes.
    if (stopping.aborted) response.setHeader('connection', 'close')
    listener(request, response)
  })
  server.listen(port)
  await once(server, 'listening')
  if (!stopping.aborted) await once(stopping, 'abort')
  await setTimeout(drain)
  server.close()
  await once(server, 'close')
}
