import { request } from 'node:http'
import { createPaywall, type PaywallParameters } from 'countersign/pages'
import type { X402GateParameters } from 'countersign/x402'
import type { PrivateKeyAccount } from 'viem'
import { dataOf } from '../../unit/support/openPages.js'
import { type GateShop, openGateShop, signFor } from './x402Desk.js'

/** A shop whose gate answers browsers with a paywall. */
export const openPaywallShop = (
  { name = 'Daily News', ...looks }: Partial<PaywallParameters> = {},
  parameters: Partial<Omit<X402GateParameters, 'orders'>> = {},
  shop?: Parameters<typeof openGateShop>[1],
): Promise<GateShop> =>
  openGateShop(
    { paywall: createPaywall({ name, ...looks }), ...parameters },
    shop,
  )

/** The headers that a browser sends when a person opens an address. */
export const navigation = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
} as const

/** Answers a request with these headers, wherever the server is. */
export type Ask = (headers?: Record<string, string>) => Promise<Response>

/** Sends only these headers: Node's `fetch` adds `sec-fetch-mode: cors`. */
export const askUrl =
  (url: string): Ask =>
  (headers = {}) =>
    new Promise((resolve, reject) => {
      const sent = request(url, { headers }, async (answer) => {
        const given = answer.rawHeaders.flatMap((name, at, all) =>
          at % 2 === 0 ? [[name, all[at + 1] ?? ''] as [string, string]] : [],
        )
        const body = Buffer.concat(await answer.toArray())
        const status = answer.statusCode ?? 0
        resolve(new Response(body, { status, headers: given }))
      })
      sent.on('error', reject).end()
    })

type Kept = {
  /** The headers of the browser's next requests. */
  headers: Record<string, string>
  payment: string
}

/**
 * Signs the payment that the page asks for and stores it in the cookie that the
 * page names, as the page's script does.
 */
export async function keepPaymentFor(
  account: PrivateKeyAccount,
  ask: Ask,
): Promise<Kept> {
  const page = await ask(navigation)
  const payment = await signFor(account, page)
  const { cookie } = await dataOf(Promise.resolve(page))
  return {
    payment,
    headers: { ...navigation, cookie: `theme=dark; ${cookie}=${payment}` },
  }
}
