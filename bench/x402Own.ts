import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import { createX402Gate, honoPayment } from 'countersign/x402'
import { Hono } from 'hono'
import type { PrivateKeyAccount } from 'viem'
import type { App } from '../examples/x402/stockServer.js'
import { makeFolder, openShop, type ShopPlace } from './ordersShop.js'

/** A gate whose orders are sealed and kept in SQLite. */
export function openOwnApp(
  chain: Parameters<typeof openShop>[0],
  {
    url,
    account,
    keccak256,
    most,
    isTicking,
  }: Pick<ShopPlace, 'url' | 'keccak256'> & {
    account: PrivateKeyAccount
    /** Most payments in flight. */
    most: number
    /** True to answer at `preconfirmed`. */
    isTicking: boolean
  },
): { app: App; stop: () => Promise<void> } {
  const folder = makeFolder()
  const orders = openShop(chain, {
    url,
    store: sqliteStore({ file: join(folder.path, 'orders.db') }),
    key: randomBytes(32),
    accounts: [account],
    policy: {
      pollingInterval: 20,
      maxInFlight: most,
      mostAtRisk: { total: '1000' },
    },
    keccak256,
  })
  const early = { answerAt: 'preconfirmed', preconfirmedUpTo: '1' } as const
  const gate = createX402Gate({
    orders,
    offers: { weather: { amount: '0.01', ...(isTicking ? early : {}) } },
    mostOpen: most,
  })
  const app = new Hono()
  app.use('/weather', honoPayment(gate, 'weather'))
  app.get('/weather', (context) => context.text('done'))
  return {
    app,
    stop: async () => {
      await orders.close()
      folder.remove()
    },
  }
}
