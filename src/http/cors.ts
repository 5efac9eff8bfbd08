/**
 * Answers a preflight request, by which a browser asks whether a page of
 * another origin may send the real one (CORS).
 */
export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers':
        'authorization, content-type, last-event-id',
      'access-control-max-age': '600',
    },
  })
}

/**
 * Adds the CORS headers that let a page of an allowed origin read the answer.
 */
export function allowOrigin(
  request: Request,
  response: Response,
  origins: readonly string[],
): void {
  const origin = request.headers.get('origin')
  response.headers.append('vary', 'origin')
  if (origin === null || !origins.includes(origin)) return
  response.headers.set('access-control-allow-origin', origin)
  response.headers.set('access-control-expose-headers', 'retry-after')
}
