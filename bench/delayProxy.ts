import { Agent, createServer, request as send } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * A proxy in a process of its own that keeps each request for a while before it
 * passes it on; asked with GET, it tells how many there were.
 */
const [target = '', milliseconds = '0'] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
const headers = { 'content-type': 'application/json' }
let count = 0

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.end(String(count))
    return
  }
  count++
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  await sleep(Number(milliseconds))
  const passed = send(target, { agent, method: 'POST', headers }, (answer) => {
    response.setHeader('content-type', 'application/json')
    answer.pipe(response)
  })
  passed.on('error', () => response.destroy())
  passed.end(Buffer.concat(chunks))
})

server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : 0)
})
process.once('disconnect', () => process.exit())
