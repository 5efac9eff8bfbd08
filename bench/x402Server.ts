import { once } from 'node:events'
import process from 'node:process'
import { serve } from '@hono/node-server'
import { loadAccelerator } from 'countersign/accelerate'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type App, createStockApp } from '../examples/x402/stockServer.js'
import { openOwnApp } from './x402Own.js'

/** What a server is told: whose it is, and where everything is. */
export type ServerPlace = {
  who: 'own' | 'stock'
  dev: Parameters<typeof createStockApp>[0]
  url: string
  privateKey: Hex
  /** Most payments in flight. */
  most: number
}

/** What it tells. */
export type ServerReport = {
  port: number
  /** Milliseconds of CPU so far. */
  cpu: number
}

/** A server of paid requests in a process of its own. */
const [told] = await once(process, 'message')
const { who, dev, url, privateKey, most }: ServerPlace = told
const { app, stop } = await (who === 'own' ? openOwn() : openStock())

const server = serve({ fetch: app.fetch, port: 0 }, ({ port }) => report(port))
process.on('message', () => report(0))
process.once('disconnect', async () => {
  server.close()
  await stop()
  process.exit()
})

async function openOwn(): ReturnType<typeof openStock> {
  const { fastAccount, keccak256 } = await loadAccelerator()
  const account = fastAccount(privateKey)
  return openOwnApp(dev, { url, account, keccak256, most, isTicking: false })
}

async function openStock(): Promise<{ app: App; stop: () => Promise<void> }> {
  const account = privateKeyToAccount(privateKey)
  const app = await createStockApp(dev, { url, account })
  return { app, stop: async () => {} }
}

function report(port: number): void {
  const { user, system } = process.cpuUsage()
  const told: ServerReport = { port, cpu: (user + system) / 1000 }
  process.send?.(told)
}
