import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { serveUntil } from '../../../examples/deploy/serveUntil.js'
import { findPort } from '../../../examples/worker/findPort.js'

const agent = new Agent({ keepAlive: true })

/** Asks over a connection that stays open, and waits for the head. */
async function ask(port: number, path: string): Promise<IncomingMessage> {
  const sent = request({ host: '127.0.0.1', port, path, agent }).end()
  const [answer] = await once(sent, 'response')
  return answer
}

test('a server that stops answers what comes until it is drained, and what it has begun, and ends then', async () => {
  const stopping = new AbortController()
  const port = await findPort()
  let finish: () => void = () => undefined
  const ended = serveUntil(
    ({ url }, response) => {
      response.writeHead(200)
      if (url !== '/slow') {
        response.end()
        return
      }
      response.write('begun')
      finish = () => response.end()
    },
    { port, stopping: stopping.signal, drain: 300 },
  )
  onTestFinished(() => {
    agent.destroy()
    finish()
  })
  const before = await expect
    .poll(() => ask(port, '/').catch(() => undefined))
    .toBeDefined()
    .then(() => ask(port, '/'))
  expect(before.headers.connection).toBe('keep-alive')
  before.resume()
  const slow = await ask(port, '/slow')
  stopping.abort()
  const late = await ask(port, '/')
  late.resume()
  expect([late.statusCode, late.headers.connection]).toEqual([200, 'close'])
  // Nothing is taken any more, and the slow answer is waited for.
  await expect.poll(() => ask(port, '/').catch(() => 'refused')).toBe('refused')
  expect(await Promise.race([ended, 'waiting'])).toBe('waiting')
  finish()
  slow.resume()
  await once(slow, 'end')
  await ended
})
