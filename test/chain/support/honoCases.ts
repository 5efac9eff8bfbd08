import { type Handler, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { compress } from 'hono/compress'
import { deleteCookie, setCookie } from 'hono/cookie'
import { cors } from 'hono/cors'
import { etag } from 'hono/etag'
import { HTTPException } from 'hono/http-exception'
import { poweredBy } from 'hono/powered-by'
import { prettyJSON } from 'hono/pretty-json'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { stream, streamSSE, streamText } from 'hono/streaming'
import { validator } from 'hono/validator'

const bytes = Uint8Array.of(0, 1, 127, 128, 200, 255)

/** Middleware that may stand in front of a gate, or behind it. */
export const honoMiddleware: Readonly<Record<string, MiddlewareHandler>> = {
  cors: cors({ origin: 'https://page.example', credentials: true }),
  secureHeaders: secureHeaders(),
  requestId: requestId({ generator: () => 'one' }),
  poweredBy: poweredBy(),
  compress: compress({ threshold: 0 }),
  etag: etag(),
  prettyJSON: prettyJSON({ force: true }),
  bodyLimit: bodyLimit({ maxSize: 1_000 }),
  validator: validator('json', (value) => value),
  headers: async (context, next) => {
    context.header('x-list', 'one')
    context.header('x-list', 'two', { append: true })
    context.header('vary', 'Origin')
    await next()
  },
  /** Hono merges headers otherwise once somebody has asked for `res`. */
  looks: async (context, next) => {
    context.res.headers.set('x-looked', '1')
    await next()
  },
  cookies: async (context, next) => {
    setCookie(context, 'theme', 'dark')
    setCookie(context, 'visit', '1', { httpOnly: true })
    await next()
  },
  type: async (context, next) => {
    context.header('content-type', 'text/x-own')
    await next()
  },
  status: async (context, next) => {
    context.status(202)
    await next()
  },
  after: async (context, next) => {
    await next()
    context.header('x-after', '1')
    setCookie(context, 'after', '1')
  },
  replaces: async (context, next) => {
    await next()
    const text = await context.res.text()
    context.res = new Response(`<${text}>`, context.res)
  },
  text: async (context, next) => {
    await context.req.text()
    await next()
  },
  json: async (context, next) => {
    await context.req.json().catch(() => undefined)
    await next()
  },
  parseBody: async (context, next) => {
    await context.req.parseBody()
    await next()
  },
  slow: async (_, next) => {
    await new Promise((resolve) => setTimeout(resolve, 2))
    await next()
  },
}

const inner = new Hono().get('*', (context) => context.text('inside'))

/** Handlers that answer, or do not. */
export const honoHandlers: Readonly<Record<string, Handler>> = {
  text: (context) => context.text('grüß dich'),
  json: (context) => context.json({ sky: 'clear' }),
  html: (context) => context.html('<p>clear'),
  bytes: (context) => context.body(bytes),
  noContent: (context) => context.body(null, 204),
  created: (context) =>
    context.json({ made: true }, 201, { location: '/made', 'x-own': '1' }),
  redirect: (context) => context.redirect('/elsewhere'),
  permanent: (context) => context.redirect('https://shop.example/a?b=1', 308),
  raw: () => new Response('raw', { headers: { 'x-list': 'own' } }),
  rawMany: () => {
    const headers = new Headers({ vary: 'Accept', 'content-type': 'a/b' })
    headers.append('set-cookie', 'a=1')
    headers.append('set-cookie', 'b=2')
    return new Response('raw', { headers, status: 203, statusText: 'Fine' })
  },
  rawEmpty: () => new Response(null),
  fetched: async () => {
    const fetched = await fetch('data:text/plain,fetched')
    // Otherwise middleware that adds headers fails, unless a gate copies it.
    return new Response(fetched.body, fetched)
  },
  removes: (context) => {
    context.header('x-list', undefined)
    deleteCookie(context, 'theme')
    return context.text('removed')
  },
  appends: (context) => {
    context.header('vary', 'Accept', { append: true })
    setCookie(context, 'paid', '1')
    return context.text('appended')
  },
  etag: (context) => context.text('tagged', 200, { etag: '"1"' }),
  stream: (context) =>
    stream(context, async (to) => {
      await to.write(bytes)
      await to.write('end')
    }),
  streamText: (context) =>
    streamText(context, async (to) => {
      await to.writeln('one')
      await to.sleep(1)
      await to.write('two')
    }),
  events: (context) =>
    streamSSE(context, async (to) => {
      await to.writeSSE({ data: 'one', event: 'sky', id: '1' })
    }),
  body: async (context) => context.text(await context.req.text()),
  readBytes: async (context) =>
    context.body(new Uint8Array(await context.req.arrayBuffer())),
  readForm: async (context) => context.json(await context.req.parseBody()),
  app: (context) => inner.fetch(context.req.raw),
  setsRes: async (context) => {
    context.res = new Response('set', { headers: { 'x-list': 'set' } })
    return context.res
  },
  missing: (context) => context.notFound(),
  refused: (context) => context.json({ error: 'no' }, 403),
  throws: () => {
    throw new Error('broken')
  },
  exception: () => {
    throw new HTTPException(401, { message: 'who are you' })
  },
  exceptionAnswer: () => {
    const res = new Response('custom', { status: 418 })
    throw new HTTPException(418, { res })
  },
}
