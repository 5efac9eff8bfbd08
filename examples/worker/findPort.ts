import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port that nobody listens on. */
export async function findPort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  await once(listener, 'close')
  return typeof address === 'object' && address ? address.port : 0
}
