import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { checkout, permitCheckout } from 'countersign/checkout'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createPaymentHandler } from 'countersign/http'
import {
  createOrders,
  type Orders,
  type OrdersPolicy,
} from 'countersign/orders'
import {
  createPages,
  type Pages,
  type PagesParameters,
  type PayUrlParameters,
} from 'countersign/pages'
import { createReadClient } from 'countersign/reads'
import { memoryStore } from 'countersign/store'
import {
  createSubscriptions,
  type Subscriptions,
  spendPermissions,
} from 'countersign/subscriptions'
import type { Page } from 'playwright-core'
import type { Address } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { deployCheckout } from './deployCheckout.js'
import { fundedAccount } from './desk.js'
import { type Browser, launch } from './openPage.js'

/** A shop with payment pages on a chain of its own. */
export type PagesDesk = {
  chain: DevChain
  orders: Orders
  /** Present if the desk was opened with them. */
  subscriptions: Subscriptions | undefined
  pages: Pages
  url: string
  /** Drafts an order and returns its link. */
  draft(
    changes?: Partial<Parameters<Orders['draft']>[0]> &
      Pick<PayUrlParameters, 'returnUrl'>,
  ): Promise<{ orderId: string; link: string; buyerToken: string }>
  buyer(): Promise<PrivateKeyAccount>
  close(): Promise<void>
}

type OpenPagesParameters = Partial<PagesParameters> & {
  policy?: OrdersPolicy | undefined
  /** Also charges smart wallets. */
  hasSubscriptions?: boolean | undefined
  /** Put before both handlers by a proxy, and taken away again. */
  prefix?: string | undefined
  /** Deploys the token of the shop. @default the chain's own */
  openToken?: ((chain: DevChain) => Promise<Address>) | undefined
  /** Answers for other pages of the shop's site. */
  site?: ((path: string) => Response | undefined) | undefined
}

export async function openPagesDesk(
  parameters: OpenPagesParameters = {},
): Promise<PagesDesk> {
  const { policy, prefix = '', openToken, site, ...settings } = parameters
  const { hasSubscriptions = false, ...given } = settings
  const chain = await startDevChain({ spendPermissions: hasSubscriptions })
  await deployCheckout(chain)
  const token = (await openToken?.(chain)) ?? chain.token
  const client = createReadClient({ url: chain.urls.http, chain: chain.chain })
  const orders = createOrders({
    store: memoryStore(),
    seal: 'none',
    tokens: [{ client, token }],
    wallets: [chain.clients.merchant],
    kinds: [checkout, permitCheckout, spendPermissions()],
    policy: { relayCancellations: 'always', ...policy },
  })
  const subscriptions = hasSubscriptions
    ? createSubscriptions({ orders })
    : undefined
  const pages = createPages(orders, {
    payments: '/payments',
    name: 'Roastery & Sons',
    returnUrls: ['https://shop.example/thanks/'],
    ...given,
  })
  const payments = createPaymentHandler(orders, {
    basePath: '/payments',
    subscriptions,
    authorize: () => undefined,
  })
  const listener = getRequestListener(async (request) => {
    const url = new URL(request.url)
    const own = site?.(url.pathname)
    if (own) return own
    if (!url.pathname.startsWith(`${prefix}/`))
      return new Response('Not of this shop', { status: 404 })
    url.pathname = url.pathname.slice(prefix.length)
    const inner = new Request(url, request)
    return url.pathname.startsWith('/payments/')
      ? payments(inner)
      : pages(inner)
  })
  const server = createServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const stopping = new AbortController()
  const { signal } = stopping
  const work = Promise.all([
    orders.run({ signal }),
    subscriptions?.run({ signal }),
  ])
  return {
    chain,
    orders,
    subscriptions,
    pages,
    url,
    draft: async ({ returnUrl, ...changes } = {}) => {
      const { order, buyerToken } = await orders.draft({
        amount: '12.50',
        ...changes,
      } as Parameters<Orders['draft']>[0])
      const orderId = order.id
      const path = pages.payUrl({ orderId, buyerToken, returnUrl })
      return { orderId, buyerToken, link: `${url}${prefix}${path}` }
    },
    buyer: () => fundedAccount(chain, 100_000_000n),
    close: async () => {
      stopping.abort()
      await work
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await orders.close()
      await chain.stop()
    },
  }
}

export type PagesBrowser = {
  open(options?: {
    width?: number
    height?: number
    /** Pixels of the device for each of the page's, as a zoom has it. */
    scale?: number
    theme?: 'light' | 'dark'
    locale?: string
  }): Promise<Page>
  /** What pages printed as an error since. */
  takeProblems(): string[]
  close(): Promise<void>
}

export async function openPagesBrowser(): Promise<PagesBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-browser-'))
  const browser: Browser = await launch(folder, { hasFonts: true })
  const problems: string[] = []
  return {
    takeProblems: () => problems.splice(0),
    open: async ({
      width = 390,
      height = 844,
      scale = 1,
      theme = 'light',
      locale = 'en-GB',
    } = {}) => {
      const context = await browser.newContext({
        viewport: { width, height },
        deviceScaleFactor: scale,
        colorScheme: theme,
        locale,
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
      })
      context.setDefaultTimeout(60_000)
      const page = await context.newPage()
      page.on('pageerror', (error) => problems.push(String(error)))
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text())
      })
      return page
    },
    close: async () => {
      await browser.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
