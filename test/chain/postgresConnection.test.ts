import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { postgresEngine } from '../../src/engines/postgresEngine.js'

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
