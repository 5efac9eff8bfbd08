import process from 'node:process'
import { serve } from '@hono/node-server'
import { openServedGate } from './gateStage.js'

// A process that answers paid requests at the port that it tells, until its
// input ends.
const { answer } = openServedGate(JSON.parse(process.argv[2] ?? ''))
process.stdin.once('end', () => process.exit(0)).resume()
serve({ fetch: answer, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  process.stdout.write(`${port}\n`)
})
