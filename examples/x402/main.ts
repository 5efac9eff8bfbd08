/**
 * A paid API and a stock x402 client on a chain of their own. Prints what the
 * two say to each other.
 *
 *     npm run x402
 */
import { startDevChain } from 'countersign/devchain'
import { buyWeather } from './client.js'
import { serveWeather } from './server.js'

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
