import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Hono } from 'hono'

/** Serves on this machine only. */
export async function listen(
  app: Hono,
  port: number,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createAdaptorServer({ fetch: app.fetch })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        // Streams would keep it open for minutes.
        if ('closeAllConnections' in server) server.closeAllConnections()
      }),
  }
}
