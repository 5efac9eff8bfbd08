import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

type Kept = {
  status: number
  headers: string[]
  body: Buffer
  /** Headers that a request must share to get this answer, by `Vary`. */
  asked: Readonly<Record<string, string | undefined>>
}

export type SharedCache = {
  url: string
  /** How many answers came from the cache. */
  hits(): number
}

/** Statuses that a cache may store without an explicit lifetime (RFC 9110). */
const cacheable = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

/**
 * Stands in for a caching proxy. Stores everything that RFC 9111 allows a
 * shared cache to store. Like most proxies, it ignores cookies.
 */
export async function openSharedCacheStandIn(
  origin: string,
): Promise<SharedCache> {
  const kept = new Map<string, Kept[]>()
  let hits = 0
  const server = createServer((asked, answer) => {
    const { url = '/', method = 'GET', headers } = asked
    const found = kept
      .get(url)
      ?.find((one) =>
        Object.entries(one.asked).every(
          ([name, value]) => headers[name] === value,
        ),
      )
    if (found && method === 'GET' && !headers.authorization) {
      hits++
      answer.writeHead(found.status, found.headers).end(found.body)
      return
    }
    const sent = request(
      `${origin}${url}`,
      { method, headers },
      async (got) => {
        const body = Buffer.concat(await got.toArray())
        const status = got.statusCode ?? 0
        const one = { status, headers: got.rawHeaders, body }
        const vary = varyOf(got.headers, headers)
        if (method === 'GET' && vary && mayKeep(status, got.headers))
          kept.set(url, [...(kept.get(url) ?? []), { ...one, asked: vary }])
        answer.writeHead(status, got.rawHeaders).end(body)
      },
    )
    sent.on('error', () => answer.writeHead(502).end())
    asked.pipe(sent)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, hits: () => hits }
}

function mayKeep(status: number, headers: IncomingHttpHeaders): boolean {
  // A vendor's cache obeys its own header first.
  const field = headers['cdn-cache-control'] ?? headers['cache-control'] ?? ''
  const rules = String(field).toLowerCase()
  if (/no-store|private|no-cache|max-age=0/.test(rules)) return false
  const isFresh = /max-age=[1-9]|s-maxage=[1-9]/.test(rules) || headers.expires
  return Boolean(isFresh) || cacheable.includes(status)
}

function varyOf(
  { vary = '' }: IncomingHttpHeaders,
  asked: IncomingHttpHeaders,
): Kept['asked'] | undefined {
  const names = vary
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  if (names.includes('*')) return undefined
  const named = names.filter((name) => name !== '')
  return Object.fromEntries(
    named.map((name) => [name, asked[name]?.toString()]),
  )
}
