import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import CachePolicy from 'http-cache-semantics'
import { afterAll } from 'vitest'

type Kept = {
  policy: CachePolicy
  status: number
  headers: string[]
  body: Buffer
}

export type SharedCache = {
  url: string
  /** How many answers came from the cache. */
  hits(): number
}

/**
 * Stands in for a caching proxy. Stores and gives everything that RFC 9111
 * allows a shared cache, by the rules of a package that such caches use. Like
 * most proxies, it ignores cookies.
 */
export async function openSharedCacheStandIn(
  origin: string,
): Promise<SharedCache> {
  const kept = new Map<string, Kept[]>()
  let hits = 0
  const server = createServer((asked, answer) => {
    const { url = '/', method = 'GET', headers } = asked
    const question = { url, method, headers }
    const found = kept
      .get(url)
      ?.find(({ policy }) => policy.satisfiesWithoutRevalidation(question))
    if (found) {
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
        const policy = new CachePolicy(
          question,
          { status, headers: ownRules(got.headers) },
          { shared: true },
        )
        const one = { policy, status, headers: got.rawHeaders, body }
        if (policy.storable()) kept.set(url, [...(kept.get(url) ?? []), one])
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

/** A vendor's cache obeys its own header (RFC 9213) before `Cache-Control`. */
function ownRules(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const own = headers['cdn-cache-control']
  return own === undefined
    ? headers
    : { ...headers, 'cache-control': String(own) }
}
