import { serve } from '@hono/node-server'
import type { Mount } from '../suite/types.js'

type Handler = Parameters<Mount>[0]
type Serving = { port: number; stop(): Promise<unknown> }

/** As much of the two as is used here. */
type Others = {
  Bun?: {
    serve(options: { port: 0; hostname: string; fetch: Handler }): {
      port: number
      stop(now: true): Promise<void>
    }
  }
  Deno?: {
    serve(
      options: { port: 0; hostname: string; onListen(): void },
      handler: Handler,
    ): { addr: { port: number }; shutdown(): Promise<void> }
  }
}

const hostname = '127.0.0.1'

/** Mounts a handler in the server the runtime has for such functions. */
export const mountServer: Mount = async (handler) => {
  const { port, stop } = await listen(handler)
  const send = (request: Request) => fetch(request)
  return { origin: `http://${hostname}:${port}`, send, stop }
}

async function listen(handler: Handler): Promise<Serving> {
  const { Bun, Deno } = globalThis as Others
  if (Bun) {
    const server = Bun.serve({ port: 0, hostname, fetch: handler })
    return { port: server.port, stop: () => server.stop(true) }
  }
  if (Deno) {
    const options = { port: 0, hostname, onListen: () => {} } as const
    const { addr, shutdown } = Deno.serve(options, handler)
    return { port: addr.port, stop: shutdown }
  }
  return new Promise((resolve) => {
    const options = {
      fetch: handler,
      port: 0,
      hostname,
      overrideGlobalObjects: false,
    }
    const server = serve(options, ({ port }) =>
      resolve({
        port,
        stop: () => new Promise((closed) => server.close(closed)),
      }),
    )
  })
}
