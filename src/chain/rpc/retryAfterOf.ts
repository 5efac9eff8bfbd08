/** The `Retry-After` of an HTTP peer, however deep viem wrapped it. */
export function retryAfterOf(error: unknown, depth = 0): string | null {
  const { headers, cause } = Object(error)
  if (headers instanceof Headers) return headers.get('retry-after')
  return cause && depth < 9 ? retryAfterOf(cause, depth + 1) : null
}
