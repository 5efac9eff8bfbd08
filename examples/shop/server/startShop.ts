import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DevChain, startDevChain } from 'countersign/devchain'
import type { Orders, OrdersPolicy } from 'countersign/orders'
import { buildPage } from './buildPage.js'
import { captureAtOnce } from './captureAtOnce.js'
import { createApp } from './createApp.js'
import { listen } from './listen.js'
import { openOrders } from './openOrders.js'
import { readSecrets } from './secrets.js'

export type StartShopParameters = {
  /** @default a free one */
  port?: number | undefined
  /** Folder to keep keys and orders in. @default a temporary one */
  data?: string | undefined
  /** A chain that goes on when the shop is closed. @default one of its own */
  chain?: DevChain | undefined
  policy?: OrdersPolicy | undefined
  /** Folder of a page that `buildPage` built. @default it is built */
  page?: string | undefined
  /** Gives the start up. */
  signal?: AbortSignal | undefined
}

export type Shop = {
  url: string
  /** Carries the merchant's key in its fragment, which no server sees. */
  merchantUrl: string
  chain: DevChain
  orders: Orders
  /** Ends everything that was started here. */
  close(): Promise<void>
}

/** Starts chain, orders, worker and page, or nothing at all. */
export async function startShop(
  parameters: StartShopParameters = {},
): Promise<Shop> {
  const steps: (() => unknown)[] = []
  const close = async (): Promise<void> => {
    for (const step of steps.splice(0).reverse()) await step()
  }
  try {
    return await start(parameters, { steps, close })
  } catch (error) {
    await close()
    throw error
  }
}

async function start(
  parameters: StartShopParameters,
  { steps, close }: { steps: (() => unknown)[]; close: Shop['close'] },
): Promise<Shop> {
  const { port = 0, policy: given, signal } = parameters
  signal?.throwIfAborted()
  const own = mkdtempSync(join(tmpdir(), 'countersign-shop-'))
  steps.push(() => rmSync(own, { recursive: true, force: true }))
  const folder = parameters.data ?? own
  mkdirSync(folder, { recursive: true })

  const chain =
    parameters.chain ??
    (await startDevChain({ preconfirmations: 'flashblocks' }))
  if (parameters.chain === undefined) steps.push(chain.stop)
  signal?.throwIfAborted()

  const page = parameters.page ?? join(own, 'page')
  if (parameters.page === undefined) await buildPage(page)
  signal?.throwIfAborted()

  const policy = {
    relayCancellations: 'always',
    ...given,
  } as const satisfies OrdersPolicy
  const { merchantKey, sealKey } = readSecrets(folder)
  const orders = await openOrders(chain, { folder, sealKey, policy })
  steps.push(orders.close)
  steps.push(startWork(orders))

  const app = createApp({ orders, chain, merchantKey, page })
  const { url, stop } = await listen(app, port)
  steps.push(stop)
  const merchantUrl = `${url}/merchant#key=${merchantKey}`
  return { url, merchantUrl, chain, orders, close }
}

/** What goes on in the background, and how it ends. */
function startWork(orders: Orders): () => Promise<void> {
  const control = new AbortController()
  const { signal } = control
  const work = [orders.run({ signal }), captureAtOnce(orders, signal)]
  return async () => {
    control.abort()
    await Promise.allSettled(work)
  }
}
