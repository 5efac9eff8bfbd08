import type { AddressInfo } from 'node:net'
import { createServer, Socket } from 'node:net'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { postgresEngine } from '../../../src/sql/engines/postgresEngine.js'
import { listenPostgres } from '../../../src/sql/engines/postgresListener.js'

/** A server that lets someone in and shuts down in the same breath. */
async function startClosingServer(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () =>
      socket.end(
        Buffer.concat([
          message('R', Buffer.alloc(4)),
          message('Z', Buffer.from('I')),
          message('E', Buffer.from('SFATAL\0C57P01\0Mshutting down\0\0')),
        ]),
      ),
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `postgres://shop@127.0.0.1:${port}/shop`
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

test('a server that shuts down as it lets someone in does not end the process', async () => {
  const connectionString = await startClosingServer()
  const engine = postgresEngine({ connectionString })
  onTestFinished(() => engine.close())
  const asked = engine.connect('read', (session) =>
    sql`select 1`.execute(session),
  )
  await expect(asked).rejects.toMatchObject({
    name: 'StoreError',
    retryable: true,
  })
})

test('a connection that says nothing is asked for a sign of life after seconds, not hours', async () => {
  const connectionString = await startClosingServer()
  const asked = vi.spyOn(Socket.prototype, 'setKeepAlive')
  onTestFinished(() => asked.mockRestore())
  const parameters = { connectionString, schema: 'shop' }
  const listening = listenPostgres(parameters, () => undefined)
  await expect.poll(() => asked.mock.calls).toContainEqual([true, 10_000])
  await listening.stop()
  asked.mockClear()
  const engine = postgresEngine(parameters)
  onTestFinished(() => engine.close())
  await engine.connect('read', async () => undefined).catch(() => undefined)
  expect(asked.mock.calls).toContainEqual([true, 10_000])
})
