import { serve } from '@hono/node-server'
import type { DevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { memoryStore } from 'countersign/store'
import { createX402Gate, honoPayment } from 'countersign/x402'
import { Hono } from 'hono'

type Server = { url: string; stop: () => Promise<void> }

/**
 * Sells the weather for 0.01 each time.
 *
 * @param options.answerAt `preconfirmed` to answer before a block has the
 * payment, up to 0.05 each and 10 in all.
 */
export async function serveWeather(
  chain: DevChain,
  { answerAt = 'included' }: { answerAt?: 'preconfirmed' | 'included' } = {},
): Promise<Server> {
  const client = createReadClient({
    chain: chain.chain,
    url: chain.urls.http,
  })
  const orders = createOrders({
    // In production a database: postgresStore or sqliteStore.
    store: memoryStore({ volatile: true }),
    seal: 'none',
    tokens: [{ client, token: chain.token }],
    wallets: [chain.clients.merchant],
    policy: { mostAtRisk: { total: '10' } },
  })
  const gate = createX402Gate({
    orders,
    offers: {
      weather: {
        amount: '0.01',
        description: 'The weather of one city',
        mimeType: 'application/json',
        ...(answerAt === 'preconfirmed'
          ? { answerAt, preconfirmedUpTo: '0.05' }
          : {}),
      },
    },
  })
  await gate.claimRecipients()

  const app = new Hono()
  app.use('/weather', honoPayment(gate, 'weather'))
  app.get('/weather', (context) =>
    context.json({ city: context.req.query('city'), sky: 'clear' }),
  )
  const { url, stop } = await serveApp(app)
  return {
    url,
    stop: async () => {
      await stop()
      await orders.close()
    },
  }
}

/** Serves an app on a free port of this machine. */
export function serveApp(app: Pick<Hono, 'fetch'>): Promise<Server> {
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0 }, ({ port }) =>
      resolve({
        url: `http://127.0.0.1:${port}`,
        stop: async () => {
          server.close()
        },
      }),
    )
  })
}
