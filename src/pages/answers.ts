import { hashText } from '../core/hashText.js'

/** Answers with an HTML document, or with 304 if the browser has it already. */
export function html(
  request: Request,
  text: string,
  given: Readonly<Record<string, string>>,
): Response {
  const etag = `"${hashText(text).slice(2, 18)}"`
  const headers = new Headers({ ...given, etag })
  if (isUnchanged(request, etag))
    return new Response(null, { status: 304, headers })
  headers.set('content-type', 'text/html; charset=utf-8')
  return new Response(request.method === 'HEAD' ? null : text, { headers })
}

/** True if the browser has this version already. */
export function isUnchanged({ headers }: Request, etag: string): boolean {
  const known = headers.get('if-none-match') ?? ''
  return known
    .split(',')
    .some(
      (one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*',
    )
}

/** Answers that no token could be described in time, or that the page failed. */
export function later(): Response {
  return text(503, 'Please try again in a moment.', { 'retry-after': '2' })
}

export function text(
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
