import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { hashText } from '../core/hashText.js'
import { parseOrderId } from '../core/parseOrderId.js'
import { contextOf } from '../orders/engine.js'
import type { Orders } from '../orders/index.js'
import { html, later, text } from './answers.js'
import type { Asset } from './assets.js'
import { findWords } from './chooseLanguage.js'
import { chooseReturn } from './chooseReturn.js'
import type { MerchantPagesParameters } from './merchantTypes.js'
import { openTokens } from './openTokens.js'
import { parsePages, type SettledPages } from './parsePages.js'
import { payAssets } from './payAssets.js'
import { linkFiles } from './renderDocument.js'
import { renderPage } from './renderPage.js'
import { securityHeaders } from './securityHeaders.js'
import { serveAsset, type TextAsset } from './serveAsset.js'
import { subscribeAssets } from './subscribeAssets.js'
import { themeCss } from './theme.js'
import type {
  Pages,
  PagesParameters,
  PayUrlParameters,
  SubscribeUrlParameters,
} from './types.js'
import type { PageData, PageToken } from './web/pageData.js'
import type { PageWords } from './words/types.js'

/**
 * Serves the payment page of each order, at `/pay/{orderId}#{buyerToken}`, and
 * its script and styles. In it a buyer chooses a wallet, sees everything that
 * is signed, signs, follows the payment, and cancels it. The same for each
 * subscription, at `/subscribe/{subscriptionId}#{buyerToken}`. The pages use
 * the routes of `createPaymentHandler`, which you serve too.
 *
 * With `merchant`, also serves the merchant's pages below `/merchant/`, with
 * the routes that they use: orders with their proofs, captures, refunds, books
 * and health. These need `zod`. Other addresses get a 404.
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
  const files = new Map<string, Asset | TextAsset>(
    [...payAssets.files, ...subscribeAssets.files, theme].map((file) => [
      file.name,
      file,
    ]),
  )
  const { payments, frameAncestors, basePath, merchant } = settled
  const security = securityHeaders({
    connect: [
      "'self'",
      ...(payments.startsWith('http') ? [new URL(payments).origin] : []),
    ],
    frameAncestors,
  })
  const getTokens = openTokens(context)
  const merchantPath = `${basePath}/merchant`
  const serveMerchant = merchant && openMerchantSite(orders, settled, merchant)

  const answer = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url)
    const kind = kinds.find(({ folder }) =>
      pathname.startsWith(`${basePath}/${folder}/`),
    )
    if (!kind) return text(404, 'Not found')
    const [first = '', second, ...rest] = pathname
      .slice(`${basePath}/${kind.folder}/`.length)
      .split('/')
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
    return servePage(request, { settled, kind, theme, tokens, returnUrl })
  }

  const handle = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (serveMerchant && `${pathname}/`.startsWith(`${merchantPath}/`))
      return serveMerchant(request).catch(later)
    const response = await answer(request).catch(later)
    for (const [name, value] of security) response.headers.set(name, value)
    return response
  }
  return Object.assign(handle, {
    payUrl: (order: PayUrlParameters) => payUrl(settled, order),
    subscribeUrl: (subscription: SubscribeUrlParameters) =>
      subscribeUrl(settled, subscription),
  })
}

/** The pages that buyers open by a link. */
const kinds = [
  {
    folder: 'pay',
    assets: payAssets,
    titles: { title: 'payTo', loading: 'loading' },
  },
  {
    folder: 'subscribe',
    assets: subscribeAssets,
    titles: { title: 'draftedSubscription', loading: 'loadingSubscription' },
  },
] as const

/** Loads the merchant's pages at their first request. */
function openMerchantSite(
  orders: Orders,
  { basePath, name }: SettledPages,
  merchant: MerchantPagesParameters,
): (request: Request) => Promise<Response> {
  let loading: Promise<(request: Request) => Promise<Response>> | undefined
  const load = async () => {
    const { createMerchantSite } = await import('./createMerchantSite.js')
    return createMerchantSite(orders, {
      ...merchant,
      basePath: `${basePath}/merchant`,
      name,
    })
  }
  return async (request) => {
    loading ??= load()
    return (await loading)(request)
  }
}

function payUrl(settled: SettledPages, parameters: PayUrlParameters): string {
  checkMembers(parameters, ['orderId', 'buyerToken', 'returnUrl'])
  const { orderId, ...given }: PayUrlParameters = Object(parameters)
  return linkTo(settled, {
    ...given,
    folder: 'pay',
    id: parseOrderId(orderId),
    from: 'draft',
  })
}

function subscribeUrl(
  settled: SettledPages,
  parameters: SubscribeUrlParameters,
): string {
  checkMembers(parameters, ['subscriptionId', 'buyerToken', 'returnUrl'])
  const { subscriptionId, ...given }: SubscribeUrlParameters =
    Object(parameters)
  return linkTo(settled, {
    ...given,
    folder: 'subscribe',
    id: parseOrderId(subscriptionId, 'subscriptionId'),
    from: 'issueBuyerToken',
  })
}

type LinkParameters = Pick<PayUrlParameters, 'buyerToken' | 'returnUrl'> & {
  folder: string
  id: string
  /** What returns the token. */
  from: string
}

function linkTo(
  { url, returnUrls }: SettledPages,
  { folder, id, buyerToken, returnUrl, from }: LinkParameters,
): string {
  if (!/^[\da-f]{64}$/i.test(buyerToken))
    throw new InvalidFieldError(
      'buyerToken',
      buyerToken,
      `the token that ${from} returned`,
    )
  const back = returnUrl && chooseReturn(returnUrl, returnUrls)
  if (returnUrl && !back)
    throw new InvalidFieldError(
      'returnUrl',
      shown(returnUrl),
      'one of the returnUrls of createPages',
    )
  const query = back ? `?return=${encodeURIComponent(back)}` : ''
  return `${url}/${folder}/${encodeURIComponent(id)}${query}#${buyerToken}`
}

type ServePageParameters = {
  settled: SettledPages
  kind: (typeof kinds)[number]
  theme: TextAsset
  tokens: readonly PageToken[]
  returnUrl: string | undefined
}

function servePage(
  request: Request,
  { settled, kind, theme, tokens, returnUrl }: ServePageParameters,
): Response {
  const { basePath, payments, logo, name, terms } = settled
  const { language, words } = findWords(request, settled)
  const { folder, assets, titles } = kind
  const from = `${basePath}/${folder}`
  const data: PageData<PageWords> = {
    payments: relativeTo(from, payments),
    name,
    tokens,
    returnUrl,
    terms: terms && relativeTo(from, terms),
    language,
    words,
  }
  const document = renderPage({
    data,
    titles,
    ...linkFiles({
      script: `assets/${assets.script}`,
      imports: assets.imports.map((file) => `assets/${file}`),
      styles: [`assets/${assets.style}`, `assets/${theme.name}`],
    }),
    logo: logo && relativeTo(from, logo),
  })
  return html(request, document, {
    'cache-control': 'no-cache',
    vary: 'accept-language',
    'content-language': language,
  })
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

function themeAsset({ accent }: SettledPages): TextAsset {
  const css = themeCss(accent)
  return {
    name: `theme-${hashText(css).slice(2, 10)}.css`,
    type: 'text/css; charset=utf-8',
    text: css,
  }
}
