import { NextResponse } from 'next/server.js'

type FetchHandler = (request: Request) => Response | Promise<Response>

const bytes = Uint8Array.of(0, 1, 127, 128, 200, 255)

/** A body that comes in pieces. */
const inPieces = (...pieces: readonly Uint8Array[]) => {
  const left = [...pieces]
  return new ReadableStream({
    pull: (controller) => {
      const piece = left.shift()
      if (piece) controller.enqueue(piece)
      else controller.close()
    },
  })
}

/** Handlers of the fetch standard, and of Next.js. */
export const fetchHandlers: Readonly<Record<string, FetchHandler>> = {
  text: () => new Response('grüß dich'),
  json: () => Response.json({ sky: 'clear' }),
  bytes: () => new Response(bytes),
  empty: () => new Response(''),
  nothing: () => new Response(null),
  noContent: () => new Response(null, { status: 204 }),
  notModified: () =>
    new Response(null, { status: 304, headers: { etag: '"1"' } }),
  reason: () => new Response('odd', { status: 299, statusText: 'Odd' }),
  redirect: () => Response.redirect('https://shop.example/elsewhere', 307),
  headers: () => {
    const headers = new Headers({ vary: 'Accept', link: '</a>; rel=a' })
    headers.append('x-list', 'one')
    headers.append('x-list', 'two')
    headers.append('set-cookie', 'a=1; HttpOnly')
    headers.append('set-cookie', 'b=2')
    return new Response('many', { headers })
  },
  pieces: () => new Response(inPieces(bytes, bytes, Uint8Array.of())),
  encoded: () =>
    new Response(inPieces(bytes).pipeThrough(new CompressionStream('gzip')), {
      headers: { 'content-encoding': 'gzip', vary: 'Accept-Encoding' },
    }),
  form: () => {
    const form = new URLSearchParams({ city: 'Ulm' })
    return new Response(form)
  },
  blob: () => new Response(new Blob(['blob'], { type: 'text/x-own' })),
  fetched: () => fetch('data:text/x-own,fetched'),
  body: async (request) => new Response(await request.arrayBuffer()),
  readBody: async (request) =>
    Response.json([await request.clone().text(), await request.text()]),
  request: ({ method, url, headers }) => {
    const own = [...headers].filter(([name]) => name !== 'payment-signature')
    return Response.json({ method, url, headers: own })
  },
  nextJson: () => {
    const response = NextResponse.json({ sky: 'clear' }, { status: 201 })
    response.cookies.set('theme', 'dark', { path: '/', httpOnly: true })
    response.cookies.delete('visit')
    return response
  },
  nextRedirect: () => NextResponse.redirect('https://shop.example/a', 308),
  refused: () => Response.json({ error: 'no' }, { status: 403 }),
  broken: () => new Response('broken', { status: 500 }),
}

/** Requests of the fetch standard. */
export const fetchRequests: Readonly<Record<string, RequestInit>> = {
  get: {},
  browser: { headers: { accept: 'text/html', cookie: 'theme=light' } },
  json: {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"city":"Ulm"}',
  },
  text: { method: 'PUT', body: 'grüß dich' },
  bytes: { method: 'PATCH', body: bytes },
  form: { method: 'POST', body: new URLSearchParams({ city: 'Ulm' }) },
  remove: { method: 'DELETE' },
}
