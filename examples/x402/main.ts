/**
 * A paid API and a stock x402 client on a chain of their own. Prints what the
 * two say to each other; with `--requests`, how long so many answers take, and
 * those of a server with the packages of x402 alone; with `--channel`, a thousand
 * requests over one channel.
 *
 *     npm run x402
 *     npm run x402 -- --requests 50
 *     npm run x402 -- --channel
 */
import { parseArgs } from 'node:util'
import { startDevChain } from 'countersign/devchain'
import { buyWeather } from './client.js'
import { compareAnswers } from './compareAnswers.js'
import { meterRequests } from './meterRequests.js'
import { serveWeather } from './server.js'

const { requests, channel } = parseArgs({
  options: { requests: { type: 'string' }, channel: { type: 'boolean' } },
}).values

if (channel) await meterRequests(Number(requests ?? 1000))
else if (requests === undefined) await showExchange()
else await compareAnswers(Number(requests))

async function showExchange(): Promise<void> {
  const chain = await startDevChain({ blockTime: 1 })
  try {
    const server = await serveWeather(chain)
    try {
      await buyWeather(chain, `${server.url}/weather?city=Ulm`)
    } finally {
      await server.stop()
    }
  } finally {
    await chain.stop()
  }
}
