import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { afterAll } from 'vitest'

/** Serves an Express app on loopback until the file ends. */
export async function serveExpress(
  addRoutes: (app: Express) => void,
): Promise<string> {
  const app = express()
  // Express 5 prints what it catches unless it runs as a test.
  app.set('env', 'test')
  addRoutes(app)
  const server = await new Promise<Server>((resolve) => {
    const started = app.listen(0, '127.0.0.1', () => resolve(started))
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}
