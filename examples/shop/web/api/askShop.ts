import { ProblemError, ServerError } from 'countersign/client'

export type AskShopParameters = {
  /** JSON text; makes it a POST. */
  body?: string | undefined
  signal?: AbortSignal | undefined
}

/**
 * Asks the page's own origin for JSON, where `countersign/client` has no method.
 *
 * @throws {@link ProblemError} when the shop says no.
 * @throws {@link ServerError} when it says nothing.
 */
export async function askJson<value>(
  path: string,
  { body, signal }: AskShopParameters = {},
): Promise<value> {
  const response = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && {
      body,
      headers: { 'content-type': 'application/json' },
    }),
    cache: 'no-store',
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ServerError({ request: path })
  })
  const { status, headers } = response
  const answer = await response.json().catch(() => {
    throw new ServerError({ request: path })
  })
  if (response.ok) return answer
  const { reason, detail } = Object(answer)
  // Not of the shop's routes: the node behind it, or a proxy before it.
  if (typeof reason !== 'string')
    throw new ServerError({ request: path, status })
  const seconds = Number(headers.get('retry-after'))
  throw new ProblemError({
    reason,
    status,
    detail,
    field: undefined,
    retryAfter: seconds * 1_000 || undefined,
  })
}
