import { grantOf } from '../core/grantOf.js'
import { openHandler } from '../http/openHandler.js'
import { problem } from '../http/routes/problem.js'
import { principalMembers } from '../http/types.js'
import { contextOf } from '../orders/engine.js'
import type { Orders } from '../orders/index.js'
import { html, later, text } from './answers.js'
import type { MerchantData } from './merchant/merchantData.js'
import { merchantAssets } from './merchantAssets.js'
import type { MerchantPagesParameters } from './merchantTypes.js'
import { openTokens } from './openTokens.js'
import { receiptRoute } from './receiptRoute.js'
import { linkFiles, renderDocument } from './renderDocument.js'
import { securityHeaders } from './securityHeaders.js'
import { serveAsset } from './serveAsset.js'
import { webhookRoutes } from './webhookRoutes.js'

type MerchantSiteParameters = MerchantPagesParameters & {
  /** Path prefix of all its pages. */
  basePath: string
  /** Name of the shop. */
  name: string
}

/** Paths of the pages, below the base path. */
const pagePaths =
  /^(\/?|\/(books|refunds|ceilings|subscriptions)|\/(orders|subscriptions)\/[^/]+)$/

/**
 * Serves the merchant's pages, and the routes that they use. This module is
 * loaded at the first request, because few processes need it.
 *
 * @throws {@link ZodVersionError} {@link InvalidFieldError}
 */
export function createMerchantSite(
  orders: Orders,
  parameters: MerchantSiteParameters,
): (request: Request) => Promise<Response> {
  const { basePath, name, write = false, ...access } = parameters
  const { context } = contextOf(orders)
  const routes = `${basePath}/api`
  const handle = openHandler(orders, { ...access, basePath: routes }, [
    receiptRoute(context),
    ...webhookRoutes(orders),
  ])
  const files = new Map(merchantAssets.files.map((file) => [file.name, file]))
  const getTokens = openTokens(context)
  const security = securityHeaders({})

  const isKnown = async (request: Request): Promise<boolean> =>
    grantOf(await access.authorize(request), principalMembers, 'principal') !==
    undefined

  const servePage = async (request: Request, path: string) => {
    const depth = path.split('/').length - 2
    const root =
      depth < 0
        ? `./${basePath.split('/').at(-1)}/`
        : '../'.repeat(depth) || './'
    const data: MerchantData = {
      name,
      tokens: await getTokens(),
      root,
      isKnown: await isKnown(request),
      canWrite: write,
      hasSubscriptions: access.subscriptions !== undefined,
    }
    return html(
      request,
      renderDocument({
        language: 'en',
        title: name,
        data,
        ...linkFiles({
          script: `${root}assets/${merchantAssets.script}`,
          imports: merchantAssets.imports.map(
            (file) => `${root}assets/${file}`,
          ),
          styles: [`${root}assets/${merchantAssets.style}`],
        }),
        body: '<div id="root"></div><noscript>These pages need JavaScript.</noscript>',
      }),
      { 'cache-control': 'private, no-cache' },
    )
  }

  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    const path = pathname.slice(basePath.length)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (path.startsWith('/api/merchant/')) {
      if (isRead || write) return handle(request)
      return problem('operationForbidden', { detail: 'These pages only read.' })
    }
    if (!isRead) return text(405, 'Method not allowed', { allow: 'GET, HEAD' })
    if (path.startsWith('/api/receipts/') || path === '/api/webhooks')
      return handle(request)
    const [, file] = /^\/assets\/([^/]+)$/.exec(path) ?? []
    if (file !== undefined) {
      const found = files.get(file)
      return found ? serveAsset(request, found) : text(404, 'Not found')
    }
    if (path.startsWith('/api/')) return problem('noRoute')
    return pagePaths.test(path)
      ? servePage(request, path)
      : text(404, 'Not found')
  }

  return async (request) => {
    const response = await answer(request).catch(later)
    for (const [header, value] of security) response.headers.set(header, value)
    return response
  }
}
