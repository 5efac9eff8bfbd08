import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { hashText } from '../core/hashText.js'
import { parseOrderId } from '../core/parseOrderId.js'
import { contextOf } from '../orders/engine.js'
import type { Orders } from '../orders/index.js'
import { type Asset, assets } from './assets.js'
import { findWords } from './chooseLanguage.js'
import { chooseReturn } from './chooseReturn.js'
import { openTokens } from './openTokens.js'
import { parsePages, type SettledPages } from './parsePages.js'
import { renderPage } from './renderPage.js'
import { isUnchanged, serveAsset } from './serveAsset.js'
import { themeCss } from './theme.js'
import type { Pages, PagesParameters, PayUrlParameters } from './types.js'
import type { PageToken } from './web/pageData.js'

/**
 * Serves the payment page of each order, at `/pay/{orderId}#{buyerToken}`, and
 * its script and styles. In it a buyer chooses a wallet, sees everything that
 * is signed, signs, follows the payment, and cancels it. Other addresses get a
 * 404. The pages use the routes of `createPaymentHandler`, which you serve too.
 *
 * The link is a secret: it gives all rights of the buyer. Its token stands
 * behind the `#`, so that servers and their logs never see it.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import type { Orders } from 'countersign/orders'
 * import { createPages } from 'countersign/pages'
 *
 * export function servePages(orders: Orders) {
 *   const pages = createPages(orders, { payments: '/payments', name: 'Roastery' })
 *   const checkOut = async (amount: string) => {
 *     const { order, buyerToken } = await orders.draft({ amount })
 *     return pages.payUrl({ orderId: order.id, buyerToken })
 *   }
 *   return { pages, checkOut }
 * }
 * ```
 */
export function createPages(
  orders: Orders,
  parameters: PagesParameters,
): Pages {
  const { context } = contextOf(orders)
  const settled = parsePages(parameters)
  const theme = themeAsset(settled)
  const files = new Map(
    [...assets.files, theme].map((file) => [file.name, file]),
  )
  const security = securityHeaders(settled)
  const getTokens = openTokens(context)

  const answer = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url)
    const { basePath } = settled
    const place = `${basePath}/pay/`
    const [first = '', second, ...rest] = pathname.startsWith(place)
      ? pathname.slice(place.length).split('/')
      : []
    const isFile = first === 'assets' && second !== undefined
    const file = isFile ? files.get(second) : undefined
    const isFound =
      rest.length === 0 &&
      (isFile ? file !== undefined : second === undefined && isOrderId(first))
    if (!isFound) return text(404, 'Not found')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return text(405, 'Method not allowed', { allow: 'GET, HEAD' })
    if (file) return serveAsset(request, file)
    const given = searchParams.get('return')
    const returnUrl = given
      ? chooseReturn(given, settled.returnUrls)
      : undefined
    if (given && !returnUrl)
      return text(
        400,
        'This link leads back to an address that the shop does not allow.',
      )
    const tokens = await getTokens()
    if (tokens.length === 0) return later()
    return servePage(request, { settled, theme, tokens, returnUrl })
  }

  const handle = async (request: Request): Promise<Response> => {
    const response = await answer(request).catch(later)
    for (const [name, value] of security) response.headers.set(name, value)
    return response
  }
  return Object.assign(handle, {
    payUrl: (order: PayUrlParameters) => payUrl(settled, order),
  })
}

function payUrl(
  { url, returnUrls }: SettledPages,
  parameters: PayUrlParameters,
): string {
  checkMembers(parameters, ['orderId', 'buyerToken', 'returnUrl'])
  const { buyerToken, returnUrl, ...given }: PayUrlParameters =
    Object(parameters)
  const orderId = parseOrderId(given.orderId)
  if (!/^[\da-f]{64}$/i.test(buyerToken))
    throw new InvalidFieldError(
      'buyerToken',
      buyerToken,
      'the token that draft returned',
    )
  const back = returnUrl && chooseReturn(returnUrl, returnUrls)
  if (returnUrl && !back)
    throw new InvalidFieldError(
      'returnUrl',
      shown(returnUrl),
      'one of the returnUrls of createPages',
    )
  const query = back ? `?return=${encodeURIComponent(back)}` : ''
  return `${url}/pay/${encodeURIComponent(orderId)}${query}#${buyerToken}`
}

type ServePageParameters = {
  settled: SettledPages
  theme: Asset
  tokens: readonly PageToken[]
  returnUrl: string | undefined
}

function servePage(
  request: Request,
  { settled, theme, tokens, returnUrl }: ServePageParameters,
): Response {
  const { basePath, payments, logo, name, terms } = settled
  const { language, words } = findWords(request, settled)
  const from = `${basePath}/pay`
  const html = renderPage({
    data: {
      payments: relativeTo(from, payments),
      name,
      tokens,
      returnUrl,
      terms: terms && relativeTo(from, terms),
      language,
      words,
    },
    script: `assets/${assets.script}`,
    imports: assets.imports.map((file) => `assets/${file}`),
    styles: [`assets/${assets.style}`, `assets/${theme.name}`],
    logo: logo && relativeTo(from, logo),
  })
  const etag = `"${hashText(html).slice(2, 18)}"`
  const headers = new Headers({
    'cache-control': 'no-cache',
    vary: 'accept-language',
    etag,
  })
  if (isUnchanged(request, etag))
    return new Response(null, { status: 304, headers })
  headers.set('content-type', 'text/html; charset=utf-8')
  headers.set('content-language', language)
  return new Response(request.method === 'HEAD' ? null : html, { headers })
}

/**
 * Returns a path as seen from a page in a folder, so that it is right behind a
 * proxy that puts a prefix before both. Leaves a whole address as it is.
 */
function relativeTo(folder: string, path: string): string {
  if (path !== '' && !path.startsWith('/')) return path
  return `${'../'.repeat(folder.split('/').length - 1)}${path.slice(1)}`
}

function isOrderId(segment: string): boolean {
  try {
    return parseOrderId(decodeURIComponent(segment)) !== ''
  } catch {
    return false
  }
}

function themeAsset({ accent }: SettledPages): Asset {
  const css = themeCss(accent)
  return {
    name: `theme-${hashText(css).slice(2, 10)}.css`,
    type: 'text/css; charset=utf-8',
    text: css,
    brotli: '',
    gzip: '',
  }
}

function securityHeaders({
  payments,
  frameAncestors,
}: SettledPages): readonly (readonly [name: string, value: string])[] {
  const routes = payments.startsWith('http')
    ? ` ${new URL(payments).origin}`
    : ''
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${routes}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.join(' ') || "'none'"}`,
  ]
  return [
    ['content-security-policy', policy.join('; ')],
    ['referrer-policy', 'no-referrer'],
    ['x-content-type-options', 'nosniff'],
  ]
}

/** Answers that no token could be described in time, or that the page failed. */
function later(): Response {
  return text(503, 'Please try again in a moment.', { 'retry-after': '2' })
}

function text(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      ...headers,
    },
  })
}
