import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { Hono } from 'hono'

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Serves the built page from memory; every route of it is its one document. */
export function servePage(folder: string): Hono {
  const files = readFiles(folder)
  const document = files.get('/index.html')
  if (!document) throw new Error('The page was not built.')
  const app = new Hono()
  app.get('*', (context) => {
    const { path } = context.req
    const file = files.get(path)
    if (!file && path.startsWith('/assets/')) return context.notFound()
    const { body, type } = file ?? document
    // The names of assets change with what they hold.
    const cache = path.startsWith('/assets/')
      ? 'public, max-age=31536000, immutable'
      : 'no-cache'
    return context.body(body, 200, {
      'content-type': type,
      'cache-control': cache,
      'content-length': String(body.length),
    })
  })
  return app
}

type PageFile = { body: Uint8Array<ArrayBuffer>; type: string }

function readFiles(folder: string): Map<string, PageFile> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Map(
    names.flatMap((name): [string, PageFile][] => {
      const type = types[extname(name)]
      const body = type && new Uint8Array(readFileSync(join(folder, name)))
      return body ? [[`/${name.split(sep).join('/')}`, { body, type }]] : []
    }),
  )
}
