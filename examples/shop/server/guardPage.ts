import type { MiddlewareHandler } from 'hono'

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of every answer, and no answer to who is not at this machine. */
export const guardPage: MiddlewareHandler = async (context, next) => {
  const { hostname } = new URL(context.req.url)
  // Else a name of someone else's that was made to lead here.
  if (hostname === '127.0.0.1' || hostname === 'localhost') await next()
  else context.res = context.text('Unknown host', 421)
  context.header('content-security-policy', policy)
  context.header('referrer-policy', 'no-referrer')
  context.header('x-content-type-options', 'nosniff')
}

/** Keeps other sites' pages from the routes that change something. */
export const refuseCrossSite: MiddlewareHandler = async (context, next) => {
  const { method, headers, url } = context.req.raw
  const origin = headers.get('origin')
  const isForeign = origin !== null && origin !== new URL(url).origin
  const isJson = headers.get('content-type')?.startsWith('application/json')
  if (isForeign) context.res = context.json({ reason: 'crossSite' }, 403)
  else if (method === 'POST' && !isJson)
    context.res = context.json({ reason: 'notJson' }, 415)
  else await next()
  context.header('cache-control', 'no-store')
}
